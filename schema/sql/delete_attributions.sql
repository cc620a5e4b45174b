DELETE FROM attribution
WHERE k IN (SELECT value FROM carray(:keys)) AND trace_k IN (SELECT k FROM trace WHERE project = :project)
