INSERT INTO packet (lane, project, trace, body, events, sent_at, due_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
