"""Kafka's protocol: bytes and messages, the table of API versions, connections, record batches."""
