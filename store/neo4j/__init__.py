"""The team's store: Neo4j."""
