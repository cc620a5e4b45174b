UNWIND $rows AS row
CREATE (t:Trace)
SET t = row, t.createdAt = $epoch + duration({microseconds: row.createdAt}), t.writtenAt = datetime()
WITH t
MATCH (s:Session {traceId: t.id})
USING INDEX SEEK s:Session(traceId, sequence)
WHERE s.sequence IS NOT NULL
CREATE (s)-[:PART_OF]->(t)
