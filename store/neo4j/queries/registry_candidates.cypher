UNWIND ['queued', 'running'] AS state
CALL (state) {
  MATCH (j:Job {state: state})
  USING INDEX SEEK j:Job(state, createdAt)
  WHERE j.createdAt IS NOT NULL AND (state = 'queued' OR [j.id, j.owner, j.leaseUntil] IN $left)
    AND ($projects IS NULL OR j.projectId IN $projects) AND NOT j.projectId IN $without
  RETURN j ORDER BY j.state, j.createdAt, j.id LIMIT $count
}
WITH j ORDER BY j.createdAt, j.id LIMIT $count
RETURN collect(j.id) AS ids
