"""What a language model adds: a judge of presence, an agent that explores the graph, and one-shot attribution."""
