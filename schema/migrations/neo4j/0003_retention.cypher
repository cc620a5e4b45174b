CREATE CONSTRAINT retention_policy_of_project IF NOT EXISTS FOR (p:RetentionPolicy) REQUIRE p.projectId IS UNIQUE;
CREATE INDEX retention_policy_by_time IF NOT EXISTS FOR (p:RetentionPolicy) ON (p.dueAt);
CREATE INDEX trace_by_writing IF NOT EXISTS FOR (t:Trace) ON (t.projectId, t.writtenAt);
// Traces that were there before count as written now, so that none is deleted too early.
MATCH (t:Trace)
WHERE t.writtenAt IS NULL
CALL (t) {
  SET t.writtenAt = datetime.truncate('microsecond', datetime({timezone: 'Z'}))
} IN TRANSACTIONS OF 10000 ROWS;
