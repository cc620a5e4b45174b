UNWIND $rows AS row
MATCH (v:Variable {id: row.id})
USING INDEX SEEK v:Variable(id)
WHERE v.projectId = $projectId
MATCH (before:Variable {id: row.revisionOf})
USING INDEX SEEK before:Variable(id)
WHERE before.projectId = $projectId
MERGE (v)-[:REVISION_OF]->(before)
