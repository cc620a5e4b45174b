"""Functions that take the interpreter for long, run in a process of their own."""
