SELECT k, project, trace, event, reason, tries, sent_at, died_at FROM dead_letter
WHERE project = :project AND k > :after ORDER BY k LIMIT :limit
