CREATE CONSTRAINT verdict_change_id IF NOT EXISTS FOR (c:VerdictChange) REQUIRE c.id IS UNIQUE;
CREATE INDEX verdict_change_of_failure IF NOT EXISTS FOR (c:VerdictChange) ON (c.failureId);
CREATE INDEX verdict_change_of_verdict IF NOT EXISTS FOR (c:VerdictChange) ON (c.attributionId);
CREATE INDEX verdict_change_of_trace IF NOT EXISTS FOR (c:VerdictChange) ON (c.traceId);
