"""The queue of events, on both of its engines."""
