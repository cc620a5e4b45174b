"""From the events that applications send to the elements of a trace."""
