SELECT k FROM trace
WHERE id >= unhex(:low) AND id <= unhex(:high) AND +project = :project AND (:trace IS NULL OR id = unhex(:trace))
LIMIT 6
