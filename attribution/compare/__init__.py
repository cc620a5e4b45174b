"""Two runs over the same questions, side by side."""
