UNWIND $ids AS id
MATCH (v:Variable {id: id})-[:DERIVED_FROM]->(n)
WHERE v.projectId = $projectId
RETURN collect([v.id, n.id, n.sequence]) AS pairs
