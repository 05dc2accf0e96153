"""What the lab starts: programs, their reaper, Java, PostgreSQL, an S3 server, Kafka's jars."""
