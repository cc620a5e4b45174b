-- name: insert
INSERT INTO {{table}} ({{columns}}) VALUES ({{marks}})

-- name: insert_new
INSERT INTO {{table}} ({{columns}}) VALUES ({{marks}}) ON CONFLICT DO NOTHING
