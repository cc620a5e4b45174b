MATCH (m:Migration)
WITH m ORDER BY m.number
RETURN collect([m.number, m.name]) AS rows
