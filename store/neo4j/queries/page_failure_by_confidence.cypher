// Of several verdicts on a failure to which the filter applies, the first in this order counts.
MATCH (a:Attribution)
USING INDEX SEEK a:Attribution(projectId, confidence, failureId)
WHERE a.projectId = $projectId AND a.confidence {{reaches}} $place AND a.failureId IS NOT NULL
  AND ($last IS NULL OR a.confidence <> $place OR a.failureId {{beyond}} $last) AND NOT a.failureId IN $without
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
    WHERE (b.confidence {{before}} a.confidence OR (b.confidence = a.confidence AND b.id < a.id))
      AND ($method IS NULL OR b.method = $method)
      AND ($errorType IS NULL OR b.errorType = $errorType)
      AND ($abstained IS NULL OR $abstained = (b.errorType IS NULL))
      AND ($questionKind IS NULL OR b.questionKind = $questionKind)
      AND ($minConfidence IS NULL OR b.confidence >= $minConfidence)
      AND ($maxConfidence IS NULL OR b.confidence <= $maxConfidence)
      AND ($operation IS NULL OR b.operationName = $operation)
  }
WITH a ORDER BY a.projectId {{order}}, a.confidence {{order}}, a.failureId {{order}} LIMIT $count
RETURN collect([a.confidence, a.failureId]) AS keys
