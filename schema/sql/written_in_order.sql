SELECT written_at, id FROM trace
WHERE project = :project
ORDER BY written_at DESC, id DESC
LIMIT 1 OFFSET :skip
