"""Whether a verdict holds: the program is run again with the blamed operation corrected."""
