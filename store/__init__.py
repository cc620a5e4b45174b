"""Where traces live, and how long: one protocol, two engines (SQLite and Neo4j), and the values beside the graph."""
