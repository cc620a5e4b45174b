-- name: find
SELECT k FROM text WHERE hash = ? AND trace_k = ? AND text = ?

-- name: rows
SELECT text.k, text.text FROM carray(:keys) AS wanted CROSS JOIN text ON text.k = wanted.value
