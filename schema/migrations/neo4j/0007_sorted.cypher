// Failures are listed in the order of an index: by when they were recorded, and by what their verdicts say. For that a
// verdict holds the name of the operation that it blames, and the beginnings of this name and of its method, which an
// index can take.
MATCH (a:Attribution)-[:BLAMES]->(o:Operation)
WHERE a.operationName IS NULL
CALL (a, o) {
  WITH a, coalesce(o.name, o.category, o.kind) AS name
  SET a.operationName = name, a.operationKey = left(name, 200)
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (a:Attribution)
WHERE a.methodKey IS NULL
CALL (a) {
  SET a.methodKey = left(a.method, 200)
} IN TRANSACTIONS OF 10000 ROWS;
CREATE INDEX failure_by_id IF NOT EXISTS FOR (f:Failure) ON (f.projectId, f.id);
CREATE INDEX failure_in_whole_order IF NOT EXISTS FOR (f:Failure) ON (f.projectId, f.traceId, f.id);
CREATE INDEX failure_by_time_and_id IF NOT EXISTS FOR (f:Failure) ON (f.projectId, f.createdAt, f.id);
CREATE INDEX attribution_by_confidence IF NOT EXISTS FOR (a:Attribution) ON (a.projectId, a.confidence, a.failureId);
CREATE INDEX attribution_by_error_type IF NOT EXISTS FOR (a:Attribution) ON (a.projectId, a.errorType, a.failureId);
CREATE INDEX attribution_by_method IF NOT EXISTS FOR (a:Attribution) ON (a.projectId, a.methodKey, a.failureId);
CREATE INDEX attribution_by_operation IF NOT EXISTS FOR (a:Attribution) ON (a.projectId, a.operationKey, a.failureId);
