UPDATE job SET lease_until = :lease_until, stage = :stage, done = :done, total = :total
WHERE id = :id AND owner = :owner AND state = 'running'
RETURNING id, project
