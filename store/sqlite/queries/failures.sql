-- name: page
SELECT f.k, hex(t.id), hex(f.id) FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND (t.id, f.id) > (unhex(:place), unhex(:last))
      AND (:without IS NULL OR lower(hex(f.id)) NOT IN (SELECT value FROM json_each(:without)))
      AND (:text IS NULL OR instr(lowered(f.question), :text) OR instr(lowered(coalesce(f.prediction, '')), :text)
           OR EXISTS (SELECT 1 FROM json_each(f.gold_answers) AS gold WHERE instr(lowered(gold.value), :text)))
      AND (:labelled IS NULL
           OR :labelled = EXISTS (SELECT 1 FROM attribution WHERE failure_k = f.k AND method = :human))
      AND (NOT :asks_verdicts OR EXISTS (
           SELECT 1
           FROM attribution AS a LEFT JOIN operation AS o ON o.k = a.operation_k LEFT JOIN text AS n ON n.k = o.name_k
                LEFT JOIN text AS c ON c.k = o.category_k
           WHERE a.failure_k = f.k AND (:method IS NULL OR a.method = :method)
                 AND (:error_type IS NULL OR a.error_type = :error_type)
                 AND (:abstained IS NULL OR :abstained = (a.error_type IS NULL))
                 AND (:question_kind IS NULL OR a.question_kind = :question_kind)
                 AND (:min_confidence IS NULL OR a.confidence >= :min_confidence)
                 AND (:max_confidence IS NULL OR a.confidence <= :max_confidence)
                 AND (:operation IS NULL OR coalesce(n.text, c.text, o.kind) = :operation)))
ORDER BY t.id, f.id
LIMIT :count

-- name: count
SELECT count(*) FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
      AND (:without IS NULL OR lower(hex(f.id)) NOT IN (SELECT value FROM json_each(:without)))
      AND (:text IS NULL OR instr(lowered(f.question), :text) OR instr(lowered(coalesce(f.prediction, '')), :text)
           OR EXISTS (SELECT 1 FROM json_each(f.gold_answers) AS gold WHERE instr(lowered(gold.value), :text)))
      AND (:labelled IS NULL
           OR :labelled = EXISTS (SELECT 1 FROM attribution WHERE failure_k = f.k AND method = :human))
      AND (NOT :asks_verdicts OR EXISTS (
           SELECT 1
           FROM attribution AS a LEFT JOIN operation AS o ON o.k = a.operation_k LEFT JOIN text AS n ON n.k = o.name_k
                LEFT JOIN text AS c ON c.k = o.category_k
           WHERE a.failure_k = f.k AND (:method IS NULL OR a.method = :method)
                 AND (:error_type IS NULL OR a.error_type = :error_type)
                 AND (:abstained IS NULL OR :abstained = (a.error_type IS NULL))
                 AND (:question_kind IS NULL OR a.question_kind = :question_kind)
                 AND (:min_confidence IS NULL OR a.confidence >= :min_confidence)
                 AND (:max_confidence IS NULL OR a.confidence <= :max_confidence)
                 AND (:operation IS NULL OR coalesce(n.text, c.text, o.kind) = :operation)))

-- name: sorted
-- A failure without a verdict has one row with no attribution; what is said of it is NULL.
WITH said AS MATERIALIZED (
    SELECT f.k, f.id,
           CASE :by WHEN 'time' THEN f.created_at WHEN 'confidence' THEN a.confidence WHEN 'errorType' THEN a.error_type
                ELSE (SELECT coalesce(n.text, c.text, o.kind)
                      FROM operation AS o LEFT JOIN text AS n ON n.k = o.name_k LEFT JOIN text AS c ON c.k = o.category_k
                      WHERE o.k = a.operation_k) END AS key
    FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
         LEFT JOIN attribution AS a
         ON a.failure_k = f.k AND (:asks_verdicts OR :by <> 'time') AND (:method IS NULL OR a.method = :method)
            AND (:error_type IS NULL OR a.error_type = :error_type)
            AND (:abstained IS NULL OR :abstained = (a.error_type IS NULL))
            AND (:question_kind IS NULL OR a.question_kind = :question_kind)
            AND (:min_confidence IS NULL OR a.confidence >= :min_confidence)
            AND (:max_confidence IS NULL OR a.confidence <= :max_confidence)
            AND (:operation IS NULL
                 OR :operation = (SELECT coalesce(n.text, c.text, o.kind)
                                  FROM operation AS o LEFT JOIN text AS n ON n.k = o.name_k
                                       LEFT JOIN text AS c ON c.k = o.category_k
                                  WHERE o.k = a.operation_k))
    WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
          AND (:without IS NULL OR lower(hex(f.id)) NOT IN (SELECT value FROM json_each(:without)))
          AND (:text IS NULL OR instr(lowered(f.question), :text) OR instr(lowered(coalesce(f.prediction, '')), :text)
               OR EXISTS (SELECT 1 FROM json_each(f.gold_answers) AS gold WHERE instr(lowered(gold.value), :text)))
          AND (:labelled IS NULL
               OR :labelled = EXISTS (SELECT 1 FROM attribution WHERE failure_k = f.k AND method = :human))
          AND (NOT :asks_verdicts OR a.k IS NOT NULL)
), keyed AS (
    SELECT k, id, CASE WHEN :descending THEN max(key) ELSE min(key) END AS key FROM said GROUP BY k
)
SELECT k, key, hex(id) FROM keyed
WHERE :last IS NULL
      OR (key IS NULL AND :key IS NOT NULL)
      OR (key IS :key AND CASE WHEN :descending THEN id < unhex(:last) ELSE id > unhex(:last) END)
      OR CASE WHEN :descending THEN key < :key ELSE key > :key END
ORDER BY key IS NULL, CASE WHEN NOT :descending THEN key END, CASE WHEN :descending THEN key END DESC,
         CASE WHEN NOT :descending THEN id END, CASE WHEN :descending THEN id END DESC
LIMIT :count

-- name: update
UPDATE failure SET origin = ?, evidence_ids = ?, gold_answers = ?, attributes = ? WHERE id = ? AND trace_k = ?

-- name: delete
DELETE FROM failure WHERE k = :failure AND trace_k IN (SELECT k FROM trace WHERE project = :project)
