// Of several verdicts on a failure to which the filter applies, the first in this order counts: `places` has the names in
// it. The server does not compare texts as it is wanted here, so it takes one name after the other.
UNWIND $names AS name
CALL (name) {
  MATCH (a:Attribution)
  USING INDEX SEEK a:Attribution(projectId, {{key}}, failureId)
  WHERE a.projectId = $projectId AND a.{{key}} = left(name, 200)
    AND a.failureId {{beyond}} CASE WHEN name = $key THEN $last ELSE $start END AND a.{{name}} = name
    AND NOT a.failureId IN $without
    AND ($method IS NULL OR a.method = $method)
    AND ($errorType IS NULL OR a.errorType = $errorType)
    AND ($abstained IS NULL OR $abstained = (a.errorType IS NULL))
    AND ($questionKind IS NULL OR a.questionKind = $questionKind)
    AND ($minConfidence IS NULL OR a.confidence >= $minConfidence)
    AND ($maxConfidence IS NULL OR a.confidence <= $maxConfidence)
    AND ($operation IS NULL OR a.operationName = $operation)
  MATCH (a)-[:EXPLAINS]->(f)
  WHERE ($text IS NULL OR toLower(f.question) CONTAINS $text OR toLower(coalesce(f.prediction, '')) CONTAINS $text
      OR any(gold IN f.goldAnswers WHERE toLower(gold) CONTAINS $text))
    AND ($labelled IS NULL OR $labelled = EXISTS { (f)<-[:EXPLAINS]-(h) WHERE h.method = $human })
    AND NOT EXISTS {
      (f)<-[:EXPLAINS]-(b)
      WHERE ($places[b.{{name}}] < $places[name] OR (b.{{name}} = name AND b.id < a.id))
        AND ($method IS NULL OR b.method = $method)
        AND ($errorType IS NULL OR b.errorType = $errorType)
        AND ($abstained IS NULL OR $abstained = (b.errorType IS NULL))
        AND ($questionKind IS NULL OR b.questionKind = $questionKind)
        AND ($minConfidence IS NULL OR b.confidence >= $minConfidence)
        AND ($maxConfidence IS NULL OR b.confidence <= $maxConfidence)
        AND ($operation IS NULL OR b.operationName = $operation)
    }
  WITH a ORDER BY a.projectId {{order}}, a.{{key}} {{order}}, a.failureId {{order}} LIMIT $count
  RETURN a.failureId AS id
}
WITH name, id LIMIT $count
RETURN collect([name, id]) AS keys
