"""What was there and not chosen."""
