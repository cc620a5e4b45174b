MATCH (j:Job {id: $id})
USING INDEX SEEK j:Job(id)
WHERE j.projectId = $projectId
SET j.askedBy = 'canceller'
WITH j, j.state AS state
SET j.cancelRequested = j.cancelRequested OR state IN ['queued', 'running'],
  j.endedAt = CASE state WHEN 'queued' THEN $at ELSE j.endedAt END,
  j.state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END
RETURN collect(properties(j)) AS rows
