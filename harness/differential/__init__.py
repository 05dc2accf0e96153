"""The same raw requests to two Kafkas, and their answers compared field by field."""
