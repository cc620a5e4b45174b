"""The Neo4j Bloom perspective: how the graph looks in Bloom, and what can be asked there by a phrase."""
