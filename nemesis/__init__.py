"""The nemesis: what can be done to a system, carried out, and what shows that it was done."""
