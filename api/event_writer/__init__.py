"""Writes the events of a journal to the graph, in a process of its own beside the server."""
