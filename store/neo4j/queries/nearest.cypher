UNWIND $roots AS root
MATCH p = (r:Variable {id: root}) ((a){{from}}[:DERIVED_FROM]{{to}}(b) WHERE b.sequence <= $until)* (v)
USING INDEX SEEK r:Variable(id)
WHERE r.projectId = $projectId
WITH v, min(length(p)) AS distance
WHERE distance <= $hops
WITH v, distance ORDER BY distance, v.sequence {{order}} LIMIT $nodes
RETURN collect(v.id) AS ids
