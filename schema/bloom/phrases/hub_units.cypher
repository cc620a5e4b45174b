MATCH (t:Trace {projectId: $project})
MATCH (v:Variable:MemoryUnit {traceId: t.id})
WHERE v.sequence >= 0 AND v.occurrence = 0 AND COUNT { (v)<-[:DERIVED_FROM {kind: 'Read'}]-() } > toInteger($times)
MATCH path = (v)<-[:DERIVED_FROM {kind: 'Read'}]-(:Variable)-[:GENERATED_BY]->(:Operation)
RETURN path
LIMIT 1000
