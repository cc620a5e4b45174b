// The causal past of a variable, a row an item: its variables, and the derivations with their ends. The same columns as
// the store reads, times as numbers: the driver is slow over times.
MATCH (:Variable {id: $id})-[:DERIVED_FROM*0..]->(v)
WITH DISTINCT v
RETURN [
  v.id, v.projectId, v.traceId, v.sessionId, v.externalId, v.name, v.className, v.version, v.occurrence, v.kind,
  v.category, v.comment, v.preview, v.value, v.valueHash, v.size, v.mediaType, v.sequence,
  v.createdAt.epochSeconds * 1000000 + v.createdAt.microsecond, v.location, v.attributes, v.operationId, v.revisionOf
] AS item
UNION ALL
MATCH (:Variable {id: $id})-[:DERIVED_FROM*0..]->(t)
WITH DISTINCT t
MATCH (t)-[d:DERIVED_FROM]->(s)
RETURN [
  d.id, d.projectId, d.traceId, s.id, t.id, d.operationId, d.externalId, d.kind, d.category, d.comment, d.sequence,
  d.createdAt.epochSeconds * 1000000 + d.createdAt.microsecond, d.location, d.attributes
] AS item
