"""Sample programs and the data that they recorded."""
