// Setting a property locks the answer, so that the later of two concurrent deletions sees that no failure is left.
// `other` has no label: with a label, the server may begin the match at all failures.
MATCH (f:Failure {id: $id})
USING INDEX SEEK f:Failure(id)
WHERE f.projectId = $projectId
CALL (f) {
  MATCH (f)-[:ANSWERED]->(v:Variable)
  WHERE v.projectId = $projectId
  SET v.right = false
  WITH f, v
  WHERE NOT EXISTS { MATCH (v)<-[:ANSWERED]-(other) WHERE other.id <> f.id }
  SET v.right = null
}
CALL (f) {
  OPTIONAL MATCH (f)<-[:EXPLAINS]-(a:Attribution)
  WITH collect(a) AS verdicts
  FOREACH (a IN verdicts | DETACH DELETE a)
  RETURN size(verdicts) AS count
}
DETACH DELETE f
RETURN count
