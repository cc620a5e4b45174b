-- name: page
SELECT f.k, hex(t.id), hex(f.id) FROM trace AS t JOIN failure AS f ON f.trace_k = t.k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND (t.id, f.id) > (unhex(:place), unhex(:last))
ORDER BY t.id, f.id
LIMIT :count

-- name: update
UPDATE failure SET origin = ?, evidence_ids = ?, gold_answers = ?, attributes = ? WHERE id = ? AND trace_k = ?

-- name: delete
DELETE FROM failure WHERE k = :failure AND trace_k IN (SELECT k FROM trace WHERE project = :project)
