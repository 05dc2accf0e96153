"""Systems that run somewhere: where their roles are, what can be done to them, what can be seen."""
