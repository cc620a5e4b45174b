UNWIND $rows AS row
MERGE (o:Operation {id: row.id, projectId: $projectId})
ON CREATE SET o = row, o:$(row.kind),
  o.startedAt = $epoch + duration({microseconds: row.startedAt}),
  o.endedAt = $epoch + duration({microseconds: row.endedAt})
WITH o, row
MATCH (s:Session {id: row.sessionId})
WHERE s.projectId = $projectId
MERGE (o)-[:IN_SESSION]->(s)
