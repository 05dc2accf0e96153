"""The logical partition: what handlers talk to, wherever its records are kept."""
