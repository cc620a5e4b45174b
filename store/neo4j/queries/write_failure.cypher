UNWIND $rows AS row
MERGE (f:Failure {id: row.id, projectId: $projectId})
ON CREATE SET f = row,
  f.createdAt = CASE WHEN row.createdAt IS NOT NULL THEN $epoch + duration({microseconds: row.createdAt}) END
ON MATCH SET f.origin = row.origin, f.evidenceIds = row.evidenceIds, f.goldAnswers = row.goldAnswers,
  f.attributes = row.attributes
WITH f, row
CALL (f, row) {
  MATCH (v:Variable {id: row.questionId})
  USING INDEX SEEK v:Variable(id)
  WHERE v.projectId = $projectId
  MERGE (f)-[:ASKED]->(v)
}
CALL (f, row) {
  MATCH (v:Variable {id: row.answerId})
  USING INDEX SEEK v:Variable(id)
  WHERE v.projectId = $projectId
  MERGE (f)-[:ANSWERED]->(v)
  SET v.right = false
}
CALL (f, row) {
  MATCH (v:Variable {id: row.expectedId})
  USING INDEX SEEK v:Variable(id)
  WHERE v.projectId = $projectId
  MERGE (f)-[:EXPECTED]->(v)
}
