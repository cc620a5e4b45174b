-- name: versions
SELECT v.k, other.k
FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.k = wanted.value
     CROSS JOIN variable AS other ON other.name_k = v.name_k AND other.class_k IS v.class_k AND other.occurrence = 0
WHERE other.trace_k = v.trace_k

-- name: named
SELECT v.k
FROM text CROSS JOIN variable AS v ON v.name_k = text.k CROSS JOIN trace AS t ON t.k = v.trace_k
WHERE text.hash = :hash AND text.text = :name AND v.occurrence = 0 AND (:version IS NULL OR v.version = :version)
  AND t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
ORDER BY t.id, v.sequence
LIMIT :count

-- name: search
SELECT v.k, -bm25(variable_words) AS score
FROM variable_words JOIN variable AS v ON v.k = variable_words.rowid JOIN trace AS t ON t.k = v.trace_k
WHERE variable_words MATCH :query AND t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
  AND (:kinds IS NULL OR v.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:begin IS NULL OR v.created_at >= :begin) AND (:end IS NULL OR v.created_at < :end)
ORDER BY score DESC, v.k
LIMIT :count

-- name: place
UPDATE variable SET sequence = ? WHERE k = ? AND trace_k = ?

-- name: complete
UPDATE variable SET session_k = ?, version = ?, category_k = ?, created_at = ?, location_k = ?, attributes_k = ?,
  operation_k = ?, revision_k = ?
WHERE k = ? AND trace_k = ? AND operation_k IS NULL

-- name: judge_right
UPDATE variable SET is_right = 1 WHERE k = ? AND trace_k = ? AND is_right IS NULL

-- name: judge_wrong
UPDATE variable SET is_right = 0 WHERE k = ? AND trace_k = ?

-- name: judge_no_more
UPDATE variable SET is_right = NULL
WHERE k = (SELECT answer_k FROM failure WHERE k = :failure)
  AND trace_k IN (SELECT k FROM trace WHERE project = :project)
  AND NOT EXISTS (
    SELECT 1 FROM failure AS other
    WHERE other.trace_k = variable.trace_k AND other.answer_k = variable.k AND other.k <> :failure
  )
