SELECT k, id FROM trace WHERE project = :project AND id IN (SELECT unhex(value) FROM json_each(:ids))
