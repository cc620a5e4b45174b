-- The plus keeps SQLite from reading all traces of the project to find a few by id.
SELECT k, id FROM trace WHERE +project = :project AND id IN (SELECT unhex(value) FROM json_each(:ids))
