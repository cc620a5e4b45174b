-- A job that is given back although somebody asked to stop it is stopped.
UPDATE job
SET state = CASE WHEN :state = 'queued' AND cancel_requested THEN 'cancelled' ELSE :state END,
    ended_at = CASE WHEN :state = 'queued' AND NOT cancel_requested THEN NULL ELSE :at END,
    result = :result, error = :error, owner = NULL, lease_until = NULL
WHERE id = :id AND owner = :owner AND state = 'running'
RETURNING id, project
