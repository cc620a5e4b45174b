SELECT count(*) FROM dead_letter WHERE project = :project
