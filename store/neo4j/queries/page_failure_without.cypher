// Failures of which no verdict says what they are sorted by, after those of which one does.
MATCH (f:Failure)
USING INDEX SEEK f:Failure(projectId, id)
WHERE f.projectId = $projectId AND f.id {{beyond}} $last AND NOT f.id IN $without
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
  AND NOT EXISTS {
    (f)<-[:EXPLAINS]-(b)
    WHERE b.{{name}} IS NOT NULL
      AND ($method IS NULL OR b.method = $method)
      AND ($errorType IS NULL OR b.errorType = $errorType)
      AND ($abstained IS NULL OR $abstained = (b.errorType IS NULL))
      AND ($questionKind IS NULL OR b.questionKind = $questionKind)
      AND ($minConfidence IS NULL OR b.confidence >= $minConfidence)
      AND ($maxConfidence IS NULL OR b.confidence <= $maxConfidence)
      AND ($operation IS NULL OR b.operationName = $operation)
  }
WITH f ORDER BY f.projectId {{order}}, f.id {{order}} LIMIT $count
RETURN collect([null, f.id]) AS keys
