INSERT INTO retention_policy (project, days, traces, changed_at, changed_by, due_at)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project) DO UPDATE
SET days = excluded.days, traces = excluded.traces, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    due_at = excluded.due_at
