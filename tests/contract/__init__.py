"""The contract of the store: every engine gives the same results from the same data."""
