UNWIND $rows AS row
CREATE (o:Operation)
SET o = row, o:$(row.kind),
  o.startedAt = CASE WHEN row.startedAt IS NOT NULL THEN $epoch + duration({microseconds: row.startedAt}) END,
  o.endedAt = CASE WHEN row.endedAt IS NOT NULL THEN $epoch + duration({microseconds: row.endedAt}) END
WITH o, row
MATCH (s:Session {id: row.sessionId})
USING INDEX SEEK s:Session(id)
WHERE s.projectId = $projectId
CREATE (o)-[:IN_SESSION]->(s)
