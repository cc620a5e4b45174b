"""The queue of events: admission checks events and makes them durable, workers write them to the graph."""
