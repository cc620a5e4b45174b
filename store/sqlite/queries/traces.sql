-- name: find
SELECT k FROM trace WHERE id = unhex(:id) AND project = :project

-- name: rows
SELECT {{read}} FROM carray(:keys) AS wanted CROSS JOIN trace AS x ON x.k = wanted.value
WHERE x.project = :project

-- name: keys
-- The plus keeps SQLite from finding a few traces by reading all traces of the project.
SELECT k, id FROM trace WHERE +project = :project AND id IN (SELECT unhex(value) FROM json_each(:ids))

-- name: external
SELECT k FROM trace
WHERE project = :project AND external_id = :reference AND (:trace IS NULL OR id = unhex(:trace))
LIMIT 6

-- name: prefix
SELECT k FROM trace
WHERE id >= unhex(:low) AND id <= unhex(:high) AND +project = :project AND (:trace IS NULL OR id = unhex(:trace))
LIMIT 6

-- name: page
SELECT k, coalesce(created_at, 0), hex(id) FROM trace
WHERE project = :project AND (coalesce(created_at, 0), id) > (:place, unhex(:last))
ORDER BY coalesce(created_at, 0), id
LIMIT :count

-- name: page_idle
SELECT k, written_at, id FROM trace
WHERE project = :project AND (written_at, id) > (:place, unhex(:last)) AND (written_at, id) < (:end, unhex(:end_id))
ORDER BY written_at, id
LIMIT :count

-- name: written_in_order
SELECT written_at, id FROM trace
WHERE project = :project
ORDER BY written_at DESC, id DESC
LIMIT 1 OFFSET :skip

-- name: ids
SELECT hex(id) FROM trace WHERE project = :project ORDER BY id

-- name: insert
INSERT INTO trace ({{columns}}, written_at)
VALUES ({{marks}}, CAST(unixepoch('subsec') * 1000000 AS INTEGER))

-- name: update
UPDATE trace
SET attributes = ?, name = coalesce(name, ?), written_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER)
WHERE k = ?

-- name: delete
DELETE FROM variable_words WHERE rowid IN (SELECT k FROM variable WHERE trace_k = :k AND occurrence = 0);
DELETE FROM invalidation WHERE variable_k IN (SELECT k FROM variable WHERE trace_k = :k);
DELETE FROM usage WHERE operation_k IN (SELECT k FROM operation WHERE trace_k = :k);
DELETE FROM verdict_change WHERE trace_id = (SELECT lower(hex(id)) FROM trace WHERE k = :k);
DELETE FROM attribution WHERE trace_k = :k;
DELETE FROM failure WHERE trace_k = :k;
DELETE FROM derivation WHERE trace_k = :k;
DELETE FROM variable WHERE trace_k = :k;
DELETE FROM operation WHERE trace_k = :k;
DELETE FROM session WHERE trace_k = :k;
DELETE FROM value WHERE trace_k = :k;
DELETE FROM pack WHERE trace_k = :k;
DELETE FROM text WHERE trace_k = :k;
DELETE FROM trace WHERE k = :k;
