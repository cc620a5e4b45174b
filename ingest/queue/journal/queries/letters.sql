-- name: take_numbers
UPDATE dead_number SET next = next + ? RETURNING next - 1

-- name: bury
INSERT INTO dead_block (last, project, letters, body) VALUES (?, ?, ?, ?)

-- name: rewrite
UPDATE dead_block SET letters = ?, body = ? WHERE last = ?

-- name: next_block
SELECT last, letters, body FROM dead_block WHERE project = ? AND last >= ? ORDER BY last LIMIT 1

-- name: oldest
SELECT last, letters, length(body) FROM dead_block WHERE project = ? ORDER BY last LIMIT 1

-- name: drop_block
DELETE FROM dead_block WHERE last = ?

-- name: drop_all
DELETE FROM dead_block WHERE project = ?

-- name: amount
SELECT letters, bytes, lost FROM dead_amount WHERE project = ?

-- name: amounts
SELECT coalesce(sum(letters), 0), coalesce(sum(lost), 0) FROM dead_amount

-- name: change_amount
INSERT INTO dead_amount (project, letters, bytes, lost) VALUES (?, ?, ?, ?)
ON CONFLICT (project) DO UPDATE
SET letters = letters + excluded.letters, bytes = bytes + excluded.bytes, lost = lost + excluded.lost

-- name: of_old_layout
SELECT k, project, trace, event, reason, tries, sent_at, died_at FROM dead_letter ORDER BY k

-- name: drop_of_old_layout
DELETE FROM dead_letter WHERE k <= ?
