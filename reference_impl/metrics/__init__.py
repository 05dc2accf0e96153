"""What a node counts, and the page on which it is read."""
