"""Clients of Kafka that the lab uses itself."""
