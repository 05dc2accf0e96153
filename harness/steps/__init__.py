"""Lists of steps, the player that carries them out, and programs drawn, shrunk and replayed."""
