"""Tests everywhere see the project and the lab."""

pytest_plugins = ["conformance.plugin", "pytester"]
