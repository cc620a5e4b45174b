UNWIND $rows AS row
MERGE (t:Trace {id: row.id, projectId: $projectId})
ON CREATE SET t = row,
  t.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
ON MATCH SET t.attributes = row.attributes, t.name = coalesce(t.name, row.name)
SET t.writtenAt = datetime.truncate('microsecond', datetime({timezone: 'Z'}))
WITH t
MATCH (s:Session {traceId: t.id})
USING INDEX SEEK s:Session(traceId, sequence)
WHERE s.sequence IS NOT NULL AND s.projectId = $projectId
MERGE (s)-[:PART_OF]->(t)
