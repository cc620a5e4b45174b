"""Benchmarks: what MemTrace takes in time and space, each figure beside a named peer in the same run.

Run: ``python -m benchmarks`` prints the report. No figure of it is kept in the code.
"""
