MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, traceId, id)
WHERE f.projectId = $projectId AND f.traceId >= $place AND f.traceId <= $lastTrace
  AND f.id IS NOT NULL AND [f.traceId, f.id] > [$place, $last] AND NOT f.id IN $without
  AND ($text IS NULL OR toLower(f.question) CONTAINS $text OR toLower(coalesce(f.prediction, '')) CONTAINS $text
    OR any(gold IN f.goldAnswers WHERE toLower(gold) CONTAINS $text))
  AND ($labelled IS NULL OR $labelled = EXISTS { (f)<-[:EXPLAINS]-(a) WHERE a.method = $human })
  AND (NOT $asksVerdicts OR EXISTS {
    (f)<-[:EXPLAINS]-(a)
    WHERE ($method IS NULL OR a.method = $method)
      AND ($errorType IS NULL OR a.errorType = $errorType)
      AND ($abstained IS NULL OR $abstained = (a.errorType IS NULL))
      AND ($questionKind IS NULL OR a.questionKind = $questionKind)
      AND ($minConfidence IS NULL OR a.confidence >= $minConfidence)
      AND ($maxConfidence IS NULL OR a.confidence <= $maxConfidence)
      AND ($operation IS NULL OR a.operationName = $operation)
  })
WITH f ORDER BY f.projectId, f.traceId, f.id LIMIT $count
RETURN collect([f.traceId, f.id]) AS keys
