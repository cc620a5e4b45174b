"""Files of traces: which formats there are, and taking and giving them."""
