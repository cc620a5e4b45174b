MATCH (m:Migration)
RETURN coalesce(max(m.number), 0) AS number
