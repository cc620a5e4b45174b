MATCH (j:Job {id: $id})
USING INDEX SEEK j:Job(id)
SET j.askedBy = $owner
WITH j
WHERE j.state = 'queued' OR (j.state = 'running' AND [j.id, j.owner, j.leaseUntil] IN $left)
SET j.state = 'running', j.owner = $owner, j.leaseUntil = $leaseUntil, j.startedAt = coalesce(j.startedAt, $now),
  j.attempts = j.attempts + 1
RETURN collect(properties(j)) AS rows
