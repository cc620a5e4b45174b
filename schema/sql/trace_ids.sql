SELECT hex(id) FROM trace WHERE project = :project ORDER BY id
