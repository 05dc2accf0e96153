"""Views of a run: they read what was judged and never judge."""
