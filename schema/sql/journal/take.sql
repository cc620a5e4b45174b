SELECT k, project, trace, body, events, rebuilt, sent_at, tries FROM packet
WHERE lane = :lane AND waits = 0 AND project = :project ORDER BY k LIMIT :limit
