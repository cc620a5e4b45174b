"""The queue of events: they are accepted, made durable, and written to the graph by workers."""
