UNWIND $rows AS row
MATCH (v:Variable {id: row.id})
WHERE v.projectId = $projectId
MATCH (before:Variable {id: row.revisionOf})
WHERE before.projectId = $projectId
MERGE (v)-[:REVISION_OF]->(before)
