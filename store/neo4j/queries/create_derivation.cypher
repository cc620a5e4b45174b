UNWIND $rows AS row
MATCH (t:Variable {id: row.target})
USING INDEX SEEK t:Variable(id)
WHERE t.projectId = $projectId
MATCH (s:Variable {id: row.source})
USING INDEX SEEK s:Variable(id)
WHERE s.projectId = $projectId
CREATE (t)-[d:DERIVED_FROM]->(s)
SET d = row.properties,
  d.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
