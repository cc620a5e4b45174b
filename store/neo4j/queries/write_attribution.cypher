// Writes no verdict on a failure that was withdrawn since the look-up.
UNWIND $rows AS row
MATCH (f:Failure {id: row.properties.failureId})
USING INDEX SEEK f:Failure(id)
WHERE f.projectId = $projectId
MERGE (a:Attribution {id: row.properties.id, projectId: $projectId})
SET a = row.properties,
  a.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END,
  a.methodKey = left(row.properties.method, 200)
WITH a, row, f
CALL (a) {
  MATCH (a)-[old:EXPLAINS|BLAMES|CITES|LOST]->()
  DELETE old
}
CALL (a, f) {
  MERGE (a)-[:EXPLAINS]->(f)
}
CALL (a, row) {
  MATCH (o:Operation {id: row.properties.operationId})
  USING INDEX SEEK o:Operation(id)
  WHERE o.projectId = $projectId
  MERGE (a)-[:BLAMES]->(o)
  WITH a, coalesce(o.name, o.category, o.kind) AS name
  SET a.operationName = name, a.operationKey = left(name, 200)
}
CALL (a, row) {
  UNWIND row.cites AS id
  MATCH (v:Variable {id: id})
  USING INDEX SEEK v:Variable(id)
  WHERE v.projectId = $projectId
  MERGE (a)-[:CITES]->(v)
}
CALL (a, row) {
  UNWIND row.lost AS lost
  MATCH (o:Operation {id: lost.operationId})
  USING INDEX SEEK o:Operation(id)
  WHERE o.projectId = $projectId
  CREATE (a)-[:LOST {
    position: lost.position, piece: lost.piece, errorType: lost.errorType, confidence: lost.confidence
  }]->(o)
}
