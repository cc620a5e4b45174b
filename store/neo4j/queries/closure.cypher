UNWIND $roots AS root
MATCH (r:Variable {id: root}){{from}}[:DERIVED_FROM*0..]{{to}}(v)
USING INDEX SEEK r:Variable(id)
WHERE r.projectId = $projectId
WITH collect(DISTINCT v) AS found
UNWIND range(0, size(found) - 1, 10000) AS start
RETURN [v IN found[start..start + 10000] | v.id] AS ids
