-- name: get
SELECT {{columns}} FROM {{table}} WHERE id = :id AND project = :project

-- name: page
SELECT {{columns}} FROM {{table}}
WHERE project = :project AND ({{time}}, id) < (:place, :last)
ORDER BY {{time}} DESC, id DESC
LIMIT :count

-- name: settle_entry
UPDATE audit_entry SET outcome = :outcome WHERE id = :id AND project = :project AND outcome = 'begun'
