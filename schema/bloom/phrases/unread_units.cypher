MATCH (t:Trace {projectId: $project})
MATCH (v:Variable:MemoryUnit {traceId: t.id})
WHERE v.sequence >= 0 AND v.occurrence = 0
  AND NOT EXISTS { (v)<-[:DERIVED_FROM {kind: 'Read'}]-() }
  AND NOT EXISTS { (v)<-[:REVISION_OF]-() }
OPTIONAL MATCH made = (v)-[:GENERATED_BY]->(:Operation)
RETURN v, made
LIMIT 1000
