"""Who asks, and what that principal may do in which project."""
