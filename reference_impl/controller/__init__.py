"""The one node that writes the metadata log: brokers, topics, elections, configurations."""
