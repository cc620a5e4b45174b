DELETE FROM dead_letter WHERE project = :project AND k = :k
