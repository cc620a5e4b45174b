INSERT INTO audit_entry (id, project, at, actor, action, target, outcome, request_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
