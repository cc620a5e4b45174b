SELECT id, project, kind, state, arguments, created_at, created_by, started_at, ended_at, stage, done, total, result,
       error, attempts, cancel_requested, owner, lease_until
FROM job
WHERE project = :project AND (created_at, id) < (:place, :last)
  AND (:kind IS NULL OR kind = :kind) AND (:state IS NULL OR state = :state)
ORDER BY created_at DESC, id DESC
LIMIT :count
