"""Neo4j, the store of a team."""
