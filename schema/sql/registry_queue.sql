SELECT state, count(*), min(created_at) FROM job GROUP BY state
