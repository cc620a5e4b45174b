// The answer is set first: that locks it, so that of two failures that go at once the later one sees that it is the last.
// The other one has no label here: with one, the server may begin at all failures there are.
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
