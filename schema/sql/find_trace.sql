SELECT k FROM trace WHERE id = unhex(:id) AND project = :project
