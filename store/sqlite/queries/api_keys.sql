-- name: find
SELECT {{columns}} FROM {{table}} WHERE id = :id

-- name: touch
UPDATE api_key SET last_used_at = max(coalesce(last_used_at, :at), :at) WHERE id = :id

-- name: revoke
UPDATE api_key SET revoked_at = coalesce(revoked_at, :at) WHERE id = :id AND project = :project
