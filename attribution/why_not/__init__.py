"""Why not: for each piece that a failed answer needed, what was there and was not chosen."""
