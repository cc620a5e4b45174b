INSERT INTO packet (lane, project, trace, body, events, rebuilt, sent_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
