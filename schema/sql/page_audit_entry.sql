SELECT id, project, at, actor, action, target, outcome, request_id
FROM audit_entry
WHERE project = :project AND (at, id) < (:place, :last)
ORDER BY at DESC, id DESC
LIMIT :count
