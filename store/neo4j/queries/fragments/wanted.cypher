// Which failures a filter wants: what it says of the failure `f`, and of a verdict.
-- name: failure
($text IS NULL OR toLower(f.question) CONTAINS $text OR toLower(coalesce(f.prediction, '')) CONTAINS $text
    OR any(gold IN f.goldAnswers WHERE toLower(gold) CONTAINS $text))
  AND ($labelled IS NULL OR $labelled = EXISTS { (f)<-[:EXPLAINS]-(h) WHERE h.method = $human })

-- name: verdict
($method IS NULL OR {{it}}.method = $method)
  AND ($errorType IS NULL OR {{it}}.errorType = $errorType)
  AND ($abstained IS NULL OR $abstained = ({{it}}.errorType IS NULL))
  AND ($questionKind IS NULL OR {{it}}.questionKind = $questionKind)
  AND ($minConfidence IS NULL OR {{it}}.confidence >= $minConfidence)
  AND ($maxConfidence IS NULL OR {{it}}.confidence <= $maxConfidence)
  AND ($operation IS NULL OR {{it}}.operationName = $operation)

-- name: explained
(NOT $asksVerdicts OR EXISTS { (f)<-[:EXPLAINS]-(a) WHERE {{wanted.verdict a}} })
