"""Why not: for each piece that a failed answer needed, what the memory had and did not choose."""
