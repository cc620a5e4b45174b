UPDATE api_key SET revoked_at = coalesce(revoked_at, :at) WHERE id = :id AND project = :project
