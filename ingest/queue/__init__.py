"""Events on their way: taken in, made durable, and written to the graph by workers."""
