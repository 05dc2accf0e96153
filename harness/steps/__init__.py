"""Steps, what plays them, and state machines that draw them."""
