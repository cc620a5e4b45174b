MATCH (j:Job {id: $id})
USING INDEX SEEK j:Job(id)
SET j.askedBy = $owner
WITH j
WHERE j.state = 'running' AND j.owner = $owner
WITH j, CASE WHEN $state = 'queued' AND j.cancelRequested THEN 'cancelled' ELSE $state END AS state
SET j.state = state, j.endedAt = CASE WHEN state <> 'queued' THEN $at END, j.result = $result, j.error = $error,
  j.owner = null, j.leaseUntil = null
RETURN collect(properties(j)) AS rows
