-- name: get
SELECT shares FROM shares

-- name: change
UPDATE shares SET shares = ?
