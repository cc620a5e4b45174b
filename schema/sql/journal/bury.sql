INSERT OR IGNORE INTO dead_letter (digest, project, trace, event, reason, tries, sent_at, died_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
