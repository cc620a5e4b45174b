SELECT k FROM trace
WHERE project = :project AND external_id = :reference AND (:trace IS NULL OR id = unhex(:trace))
LIMIT 6
