INSERT INTO job (id, project, kind, state, arguments, created_at, created_by, started_at, ended_at, stage, done, total,
                 result, error, attempts, cancel_requested, owner, lease_until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
