MATCH (j:Job {id: $id})
USING INDEX SEEK j:Job(id)
SET j.askedBy = $owner
WITH j
WHERE j.state = 'running' AND j.owner = $owner
SET j.leaseUntil = $leaseUntil, j.stage = $stage, j.done = $done, j.total = $total
RETURN collect(properties(j)) AS rows
