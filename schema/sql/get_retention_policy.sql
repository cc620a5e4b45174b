SELECT project, days, traces, changed_at, changed_by, due_at FROM retention_policy WHERE project = :project
