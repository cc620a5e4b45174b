MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, createdAt, id)
WHERE f.projectId = $projectId AND f.createdAt {{reaches}} $place AND f.id IS NOT NULL
  AND ($last IS NULL OR f.createdAt <> $place OR f.id {{beyond}} $last) AND NOT f.id IN $without
  AND ($text IS NULL OR toLower(f.question) CONTAINS $text OR toLower(coalesce(f.prediction, '')) CONTAINS $text
    OR any(gold IN f.goldAnswers WHERE toLower(gold) CONTAINS $text))
  AND ($labelled IS NULL OR $labelled = EXISTS { (f)<-[:EXPLAINS]-(h) WHERE h.method = $human })
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
WITH f ORDER BY f.projectId {{order}}, f.createdAt {{order}}, f.id {{order}} LIMIT $count
RETURN collect([f.createdAt.epochSeconds * 1000000 + f.createdAt.microsecond, f.id]) AS keys
