"""Makes the elements of a trace from the events that applications send."""
