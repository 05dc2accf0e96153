"""The search as machine code, for models whose operations require one state and leave one.

Nothing here is imported before it is needed: loading the compiler takes about as long as searching
ten thousand operations in Python, and the first load on a machine takes seconds.
"""
