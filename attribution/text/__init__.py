"""What a text says, as far as words, numbers and dates go: free, deterministic, in any language."""
