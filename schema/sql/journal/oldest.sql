SELECT sent_at FROM packet ORDER BY k LIMIT 1
