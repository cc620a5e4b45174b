"""Why an answer is wrong: tracing evidence through the causal graph and naming the operation at fault."""
