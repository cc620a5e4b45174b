"""Storage of traces: one protocol, two engines (SQLite and Neo4j), values beside the graph, and retention."""
