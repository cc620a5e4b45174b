UPDATE api_key SET last_used_at = max(coalesce(last_used_at, :at), :at) WHERE id = :id
