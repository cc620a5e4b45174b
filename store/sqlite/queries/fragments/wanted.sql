-- The conditions of a filter on a failure `f`, and on a verdict `a` except for the operation.
-- name: failure
(:since IS NULL OR f.created_at >= :since) AND (:until IS NULL OR f.created_at < :until)
      AND (:without IS NULL OR lower(hex(f.id)) NOT IN (SELECT value FROM json_each(:without)))
      AND (:text IS NULL OR instr(lowered(f.question), :text) OR instr(lowered(coalesce(f.prediction, '')), :text)
           OR EXISTS (SELECT 1 FROM json_each(f.gold_answers) AS gold WHERE instr(lowered(gold.value), :text)))
      AND (:labelled IS NULL
           OR :labelled = EXISTS (SELECT 1 FROM attribution WHERE failure_k = f.k AND method = :human))

-- name: verdict
(:method IS NULL OR a.method = :method)
      AND (:error_type IS NULL OR a.error_type = :error_type)
      AND (:abstained IS NULL OR :abstained = (a.error_type IS NULL))
      AND (:question_kind IS NULL OR a.question_kind = :question_kind)
      AND (:min_confidence IS NULL OR a.confidence >= :min_confidence)
      AND (:max_confidence IS NULL OR a.confidence <= :max_confidence)
      AND {{wanted.newest}}

-- name: newest
-- No newer verdict of the same method and model replaced the verdict. A failed attempt replaces no verdict, and a
-- model's abstention replaces none of the model's findings. A person's verdict is overwritten, and never replaced.
(a.method = :human OR NOT EXISTS (
           SELECT 1
           FROM attribution AS newer
           WHERE newer.failure_k = a.failure_k AND newer.method = a.method AND newer.k <> a.k
                 AND newer.model IS a.model AND newer.author IS a.author
                 AND (coalesce(newer.created_at, -1e18), newer.id) > (coalesce(a.created_at, -1e18), a.id)
                 AND (newer.error_type IS NOT NULL OR a.error_type IS NULL OR a.model IS NULL)
                 AND (newer.error_type IS NULL AND instr(newer.attributes, '"failed":true') > 0)
                     = (a.error_type IS NULL AND instr(a.attributes, '"failed":true') > 0)))

-- name: explained
(NOT :asks_verdicts OR EXISTS (
           SELECT 1
           FROM attribution AS a LEFT JOIN operation AS o ON o.k = a.operation_k LEFT JOIN text AS n ON n.k = o.name_k
                LEFT JOIN text AS c ON c.k = o.category_k
           WHERE a.failure_k = f.k AND {{wanted.verdict}}
                 AND (:operation IS NULL OR coalesce(n.text, c.text, o.kind) = :operation)))
