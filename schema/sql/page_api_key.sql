SELECT id, project, name, role, secret_hash, created_at, created_by, expires_at, revoked_at, last_used_at
FROM api_key
WHERE project = :project AND (created_at, id) < (:place, :last)
ORDER BY created_at DESC, id DESC
LIMIT :count
