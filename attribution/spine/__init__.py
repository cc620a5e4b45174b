"""The spine of a failure: the causal past of its answer, reduced to a picture of a few boxes."""
