"""The command line `memtrace`: one module per group of commands."""
