DELETE FROM packet WHERE k = ? RETURNING length(body)
