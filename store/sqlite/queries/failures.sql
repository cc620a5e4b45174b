-- name: page
SELECT f.k, hex(t.id), hex(f.id) FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND (t.id, f.id) > (unhex(:place), unhex(:last))
      AND {{wanted.failure}}
      AND {{wanted.explained}}
ORDER BY t.id, f.id
LIMIT :count

-- name: count
SELECT count(*) FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
      AND {{wanted.failure}}
      AND {{wanted.explained}}

-- name: sorted
-- A failure without a verdict has one row, whose attribution and key are NULL.
WITH said AS MATERIALIZED (
    SELECT f.k, f.id,
           CASE :by WHEN 'time' THEN f.created_at WHEN 'confidence' THEN a.confidence WHEN 'errorType' THEN a.error_type
                ELSE (SELECT coalesce(n.text, c.text, o.kind)
                      FROM operation AS o LEFT JOIN text AS n ON n.k = o.name_k LEFT JOIN text AS c ON c.k = o.category_k
                      WHERE o.k = a.operation_k) END AS key
    FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
         LEFT JOIN attribution AS a
         ON a.failure_k = f.k AND (:asks_verdicts OR :by <> 'time') AND {{wanted.verdict}}
            AND (:operation IS NULL
                 OR :operation = (SELECT coalesce(n.text, c.text, o.kind)
                                  FROM operation AS o LEFT JOIN text AS n ON n.k = o.name_k
                                       LEFT JOIN text AS c ON c.k = o.category_k
                                  WHERE o.k = a.operation_k))
    WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
          AND {{wanted.failure}}
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
