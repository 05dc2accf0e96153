"""The request handlers of a broker, and its life."""
