"""Systems in containers: the reference and its services, and what any system in Docker shares."""
