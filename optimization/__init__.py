"""What would have helped: programs run again with one call corrected, and what that proves of a verdict."""
