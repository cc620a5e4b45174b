"""The free pass: follows what an answer needed through the graph, without a model."""
