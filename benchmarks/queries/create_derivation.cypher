UNWIND $rows AS row
MATCH (t:Variable {id: row.target})
USING INDEX SEEK t:Variable(id)
MATCH (s:Variable {id: row.source})
USING INDEX SEEK s:Variable(id)
CREATE (t)-[d:DERIVED_FROM]->(s)
SET d = row.properties, d.createdAt = $epoch + duration({microseconds: row.createdAt})
