-- The oldest job that waits, or was left by a runner that is gone.
UPDATE job
SET state = 'running', owner = :owner, lease_until = :lease_until, started_at = coalesce(started_at, :now),
    attempts = attempts + 1
WHERE k = (
    SELECT k FROM job INDEXED BY job_to_claim
    WHERE state IN ('queued', 'running') AND (state = 'queued' OR lease_until <= :left_at)
        AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
    ORDER BY created_at, id
    LIMIT 1
)
RETURNING id, project
