UNWIND $states AS state
MATCH (j:Job {state: state})
USING INDEX SEEK j:Job(state, createdAt)
WHERE j.createdAt IS NOT NULL
WITH state, count(j) AS count, min(j.createdAt) AS oldest
RETURN collect([state, count, oldest]) AS rows
