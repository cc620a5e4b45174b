-- name: bury
INSERT OR IGNORE INTO dead_letter (digest, project, trace, event, reason, tries, sent_at, died_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: get
SELECT k, project, trace, event, reason, tries, sent_at, died_at FROM dead_letter WHERE project = :project AND k = :k

-- name: page
SELECT k, project, trace, event, reason, tries, sent_at, died_at FROM dead_letter
WHERE project = :project AND k > :after ORDER BY k LIMIT :limit

-- name: count
SELECT count(*) FROM dead_letter WHERE project = :project

-- name: count_all
SELECT count(*) FROM dead_letter

-- name: drop
DELETE FROM dead_letter WHERE project = :project AND k = :k
