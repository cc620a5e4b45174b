MATCH (r:Variable {id: $root})-[:DERIVED_FROM*0..]->(t)
USING INDEX SEEK r:Variable(id)
WHERE r.projectId = $projectId
WITH DISTINCT t
MATCH (t)-[d:DERIVED_FROM]->(s)
RETURN collect([t.id, s.id, s.sequence, d.id, d.sequence]) AS pairs
