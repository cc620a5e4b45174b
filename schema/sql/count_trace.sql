SELECT NULL, count(*) FROM trace WHERE project = :project AND (:trace IS NULL OR id = unhex(:trace))
