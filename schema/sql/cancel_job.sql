UPDATE job
SET cancel_requested = 1,
    ended_at = CASE state WHEN 'queued' THEN :at ELSE ended_at END,
    state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END
WHERE id = :id AND project = :project AND state IN ('queued', 'running')
