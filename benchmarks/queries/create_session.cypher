UNWIND $rows AS row
CREATE (s:Session)
SET s = row, s.createdAt = $epoch + duration({microseconds: row.createdAt})
