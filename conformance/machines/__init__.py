"""State machines of the reference, judged by the catalogue."""
