SELECT k, written_at, id FROM trace
WHERE project = :project AND (written_at, id) > (:place, unhex(:last)) AND (written_at, id) < (:end, unhex(:end_id))
ORDER BY written_at, id
LIMIT :count
