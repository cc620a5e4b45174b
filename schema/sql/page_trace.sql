SELECT k, coalesce(created_at, 0), hex(id) FROM trace
WHERE project = :project AND (coalesce(created_at, 0), id) > (:place, unhex(:last))
ORDER BY coalesce(created_at, 0), id
LIMIT :count
