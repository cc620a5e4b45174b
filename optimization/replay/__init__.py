"""Running the program of a stored trace again."""
