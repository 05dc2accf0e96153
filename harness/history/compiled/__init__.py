"""Plain lines as machine code: bytes into columns, without a Python object for each line.

Imported where a history is large: loading the compiler takes about a second.
"""
