SHOW INDEXES YIELD name, state
RETURN collect([name, state]) AS rows
