UNWIND $rows AS row
MATCH (s:Session {id: row.sessionId})
USING INDEX SEEK s:Session(id)
CREATE (o:Operation)-[:IN_SESSION]->(s)
SET o = row, o:$(row.kind),
  o.startedAt = $epoch + duration({microseconds: row.startedAt}),
  o.endedAt = $epoch + duration({microseconds: row.endedAt})
