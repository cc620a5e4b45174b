-- name: cancel
UPDATE job
SET cancel_requested = 1,
    ended_at = CASE state WHEN 'queued' THEN :at ELSE ended_at END,
    state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END
WHERE id = :id AND project = :project AND state IN ('queued', 'running')

-- name: claim
-- Takes the oldest job that is queued, or whose runner is gone: such a job still has a lease of `left`.
UPDATE job
SET state = 'running', owner = :owner, lease_until = :lease_until, started_at = coalesce(started_at, :now),
    attempts = attempts + 1
WHERE k = (
    SELECT k FROM job INDEXED BY job_to_claim
    WHERE state IN ('queued', 'running')
        AND (state = 'queued' OR EXISTS (
            SELECT 1 FROM json_each(:left) AS lease
            WHERE lease.value ->> 0 = job.id AND lease.value ->> 1 = job.owner AND lease.value ->> 2 = job.lease_until
        ))
        AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
        AND project NOT IN (SELECT value FROM json_each(:without))
    ORDER BY created_at, id
    LIMIT 1
)
RETURNING id, project

-- name: end
-- A job that is put back into the queue is cancelled if somebody asked to stop the job.
UPDATE job
SET state = CASE WHEN :state = 'queued' AND cancel_requested THEN 'cancelled' ELSE :state END,
    ended_at = CASE WHEN :state = 'queued' AND NOT cancel_requested THEN NULL ELSE :at END,
    result = :result, error = :error, owner = NULL, lease_until = NULL
WHERE id = :id AND owner = :owner AND state = 'running'
RETURNING id, project

-- name: leases
SELECT id, owner, lease_until FROM job INDEXED BY job_by_state
WHERE state = 'running' AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))

-- name: queue
SELECT state, count(*), min(created_at) FROM job GROUP BY state

-- name: renew
UPDATE job SET lease_until = :lease_until, stage = :stage, done = :done, total = :total
WHERE id = :id AND owner = :owner AND state = 'running'
RETURNING id, project

-- name: page
SELECT {{columns}} FROM {{table}}
WHERE project = :project AND (created_at, id) < (:place, :last)
  AND (:kind IS NULL OR kind = :kind) AND (:state IS NULL OR state = :state)
ORDER BY created_at DESC, id DESC
LIMIT :count
