// The conditions of a filter on a failure `f`, and on a verdict.
-- name: failure
($wanted.since IS NULL OR f.createdAt >= $wanted.since) AND ($wanted.until IS NULL OR f.createdAt < $wanted.until)
  AND ($wanted.text IS NULL OR toLower(f.question) CONTAINS $wanted.text
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
  AND {{wanted.newest {{it}}}}

-- name: newest
// No newer verdict of the same method and model replaced the verdict. A failed attempt replaces no verdict, and a
// model's abstention replaces none of the model's findings. A person's verdict is overwritten, and never replaced.
({{it}}.method = $wanted.human OR NOT EXISTS {
    ({{it}})-[:EXPLAINS]->()<-[:EXPLAINS]-(newer)
    WHERE newer.method = {{it}}.method
      AND coalesce(newer.model, '') = coalesce({{it}}.model, '')
      AND coalesce(newer.author, '') = coalesce({{it}}.author, '')
      AND (newer.createdAt > {{it}}.createdAt OR ({{it}}.createdAt IS NULL AND newer.createdAt IS NOT NULL)
        OR (newer.id > {{it}}.id
          AND (newer.createdAt = {{it}}.createdAt OR ({{it}}.createdAt IS NULL AND newer.createdAt IS NULL))))
      AND (newer.errorType IS NOT NULL OR {{it}}.errorType IS NULL OR {{it}}.model IS NULL)
      AND (newer.errorType IS NULL AND newer.attributes CONTAINS '"failed":true')
        = ({{it}}.errorType IS NULL AND {{it}}.attributes CONTAINS '"failed":true')
  })

-- name: explained
(NOT $wanted.asksVerdicts OR EXISTS { (f)<-[:EXPLAINS]-(a) WHERE {{wanted.verdict a}} })
