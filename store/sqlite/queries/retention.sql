-- name: get
SELECT {{columns}} FROM {{table}} WHERE project = :project

-- name: claim
UPDATE retention_policy
SET due_at = :again_at
WHERE project = (
    SELECT project FROM retention_policy
    WHERE due_at <= :now AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
    ORDER BY due_at, project
    LIMIT 1
)
RETURNING {{columns}}

-- name: write
INSERT INTO {{table}} ({{columns}}) VALUES ({{marks}})
ON CONFLICT (project) DO UPDATE
SET days = excluded.days, traces = excluded.traces, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    due_at = excluded.due_at

-- name: delete
DELETE FROM retention_policy WHERE project = :project RETURNING project
