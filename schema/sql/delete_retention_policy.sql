DELETE FROM retention_policy WHERE project = :project RETURNING project
