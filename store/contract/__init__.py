"""The protocols of a store, and the types of their arguments and results."""
