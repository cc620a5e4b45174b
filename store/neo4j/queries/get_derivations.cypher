UNWIND $ids AS id
MATCH (t:Variable)-[d:DERIVED_FROM {id: id}]->(s:Variable)
USING INDEX SEEK d:DERIVED_FROM(id)
WHERE d.projectId = $projectId
WITH t, s, properties(d) AS d
RETURN collect([{{properties}}]) AS rows
