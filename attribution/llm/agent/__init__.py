"""Attribution by a language model: an agent with tools over the graph, one prompt, and a judge of presence."""
