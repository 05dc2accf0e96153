"""The profile `classic`: a cluster under load and faults, recorded for the rules of Kafka."""
