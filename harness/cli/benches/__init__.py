"""What `bench` measures, one file an area."""
