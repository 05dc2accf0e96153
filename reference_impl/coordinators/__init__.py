"""Coordinators: who keeps transactions and committed offsets, on topics of their own."""
