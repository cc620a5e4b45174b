SELECT id, owner, lease_until FROM job INDEXED BY job_by_state
WHERE state = 'running' AND (:projects IS NULL OR project IN (SELECT value FROM json_each(:projects)))
