// The conditions of a filter on a failure `f`, and on a verdict.
-- name: failure
($wanted.text IS NULL OR toLower(f.question) CONTAINS $wanted.text
    OR toLower(coalesce(f.prediction, '')) CONTAINS $wanted.text
    OR any(gold IN f.goldAnswers WHERE toLower(gold) CONTAINS $wanted.text))
  AND ($wanted.labelled IS NULL OR $wanted.labelled = EXISTS { (f)<-[:EXPLAINS]-(h) WHERE h.method = $wanted.human })

-- name: verdict
($wanted.method IS NULL OR {{it}}.method = $wanted.method)
  AND ($wanted.errorType IS NULL OR {{it}}.errorType = $wanted.errorType)
  AND ($wanted.abstained IS NULL OR $wanted.abstained = ({{it}}.errorType IS NULL))
  AND ($wanted.questionKind IS NULL OR {{it}}.questionKind = $wanted.questionKind)
  AND ($wanted.minConfidence IS NULL OR {{it}}.confidence >= $wanted.minConfidence)
  AND ($wanted.maxConfidence IS NULL OR {{it}}.confidence <= $wanted.maxConfidence)
  AND ($wanted.operation IS NULL OR {{it}}.operationName = $wanted.operation)

-- name: explained
(NOT $wanted.asksVerdicts OR EXISTS { (f)<-[:EXPLAINS]-(a) WHERE {{wanted.verdict a}} })
