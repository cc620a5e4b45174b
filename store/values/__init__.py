"""Values, kept beside the graph by the hash of their content."""
