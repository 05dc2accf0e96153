"""Proxies on loopback: links between nodes, PostgreSQL, S3. What they do is counted."""
