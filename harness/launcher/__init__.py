"""Making the environment Tidemark runs in, with nothing but the standard library.

`environment` says what is asked for and what is there, `tools` runs installers with progress and
locks, `build` puts the two together. The `tidemark` script at the root is the only user, and
`doctor` looks in.

Promised: a `.venv` with a matching stamp is complete, because the stamp is written last and taken
away first. Whatever stops a build (Ctrl-C, a kill, a full disk) leaves no stamp, and the next
start builds anew from what was already fetched. Builders hold a lock that their tools inherit, so
two starts at once, or a tool that outlived a killed launcher, never write to one environment
together.

Not promised: that an environment somebody changed by hand is noticed (`doctor` compares it with
the lock).
"""
