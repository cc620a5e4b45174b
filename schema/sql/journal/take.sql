SELECT k, project, trace, body, events, sent_at, tries FROM packet WHERE lane = :lane AND due_at <= :now ORDER BY k LIMIT :limit
