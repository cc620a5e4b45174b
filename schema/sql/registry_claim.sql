-- The oldest job that waits, or was left by a runner that is gone: its lease is still the one that the caller knows.
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
    ORDER BY created_at, id
    LIMIT 1
)
RETURNING id, project
