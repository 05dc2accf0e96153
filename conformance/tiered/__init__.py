"""The stages of the profile `tiered`."""
