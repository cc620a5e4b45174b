SELECT value.k FROM value
WHERE value.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project) AND value.hash = unhex(:hash)
