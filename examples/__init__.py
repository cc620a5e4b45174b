"""Sample programs and their recorded data."""
