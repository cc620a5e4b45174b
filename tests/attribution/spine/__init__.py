"""The spine of a failure."""
