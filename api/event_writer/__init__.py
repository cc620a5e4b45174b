"""Writes the events of a journal to the graph, in a child of the server."""
