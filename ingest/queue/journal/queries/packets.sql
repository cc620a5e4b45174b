-- name: add
INSERT INTO packet (lane, project, trace, body, events, rebuilt, found, sent_at, tries)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)

-- name: take
SELECT k, project, trace, body, events, rebuilt, found, sent_at, tries FROM packet
WHERE lane = :lane AND waits = 0 AND project = :project ORDER BY k LIMIT :limit

-- name: keys
SELECT k FROM packet INDEXED BY packet_of_project
WHERE lane = :lane AND waits = 0 AND project = :project ORDER BY k LIMIT :limit

-- name: get
SELECT k, project, trace, body, events, rebuilt, found, sent_at, tries FROM packet WHERE k = :k

-- name: next_project
SELECT min(project) FROM packet WHERE lane = :lane AND waits = 0 AND project > :after

-- name: oldest
SELECT sent_at FROM packet ORDER BY k LIMIT 1

-- name: touch
UPDATE packet SET tries = tries + 1 WHERE k = ?

-- name: postpone
UPDATE packet SET waits = 1 WHERE k = ?

-- name: recall
UPDATE packet SET waits = 0 WHERE k = ?

-- name: recall_lane
UPDATE packet SET waits = 0 WHERE lane = ? AND waits = 1

-- name: delete
DELETE FROM packet WHERE k = ? RETURNING length(body)

-- name: amount
SELECT packets, bytes FROM amount

-- name: change_amount
UPDATE amount SET packets = packets + ?, bytes = bytes + ?
