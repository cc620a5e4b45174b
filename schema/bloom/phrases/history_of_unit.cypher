MATCH (t:Trace {projectId: $project})
MATCH (v:Variable {traceId: t.id})
WHERE v.sequence >= 0 AND v.name = $name AND v.occurrence = 0
OPTIONAL MATCH made = (v)-[:GENERATED_BY]->(:Operation)
OPTIONAL MATCH revised = (v)-[:REVISION_OF]->(:Variable)
OPTIONAL MATCH ended = (v)-[:INVALIDATED_BY]->(:Operation)
RETURN v, made, revised, ended
