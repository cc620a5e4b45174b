-- name: of_failures
SELECT {{columns}} FROM {{table}}
WHERE failure_id IN (SELECT value FROM json_each(:ids)) AND project = :project
ORDER BY attribution_id, number

-- name: of_verdict
SELECT {{columns}} FROM {{table}} WHERE attribution_id = :id AND project = :project ORDER BY number

-- name: last
SELECT attribution_id, max(number)
FROM verdict_change
WHERE attribution_id IN (SELECT value FROM json_each(:ids)) AND project = :project
GROUP BY attribution_id

-- name: write
INSERT INTO {{table}} ({{columns}}) VALUES ({{marks}})
ON CONFLICT (id) DO UPDATE SET undone_at = excluded.undone_at, undone_by = excluded.undone_by

-- name: delete_of_failure
DELETE FROM verdict_change WHERE failure_id = :id AND project = :project
