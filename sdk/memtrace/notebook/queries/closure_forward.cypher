MATCH (start:Variable {id: $id, projectId: $project})<-[:DERIVED_FROM*0..]-(v)
WITH DISTINCT v
OPTIONAL MATCH (v)<-[d:DERIVED_FROM]-()
RETURN collect(DISTINCT v) AS variables, collect(d) AS derivations
