-- name: assign
INSERT INTO {{table}} ({{columns}}) VALUES ({{marks}})
ON CONFLICT (id) DO UPDATE
SET progress = excluded.progress, reserved_until = excluded.reserved_until, changed_at = excluded.changed_at,
    attribution_id = excluded.attribution_id, draft = excluded.draft

-- name: assignments
SELECT {{columns}} FROM {{table}} WHERE queue_id = :id AND project = :project ORDER BY person, failure_id

-- name: assignments_of_person
SELECT {{columns}} FROM {{table}} WHERE project = :project AND person = :person

-- name: close
UPDATE annotation_queue
SET closed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER), closed_by = :by
WHERE id = :id AND project = :project AND closed_at IS NULL

-- name: delete
DELETE FROM annotation_queue WHERE id = :id AND project = :project

-- name: delete_assignments
DELETE FROM assignment WHERE queue_id = :id AND project = :project

-- name: now
SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER)

-- name: of_person
SELECT {{columns}} FROM {{table}}
WHERE project = :project AND closed_at IS NULL
  AND (id IN (SELECT value FROM json_each(:ids)) OR EXISTS (SELECT 1 FROM json_each(people) WHERE value = :person))
