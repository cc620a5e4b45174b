SELECT id, project, name, role, secret_hash, created_at, created_by, expires_at, revoked_at, last_used_at
FROM api_key
WHERE id = :id
