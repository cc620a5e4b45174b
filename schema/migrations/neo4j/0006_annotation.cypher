CREATE CONSTRAINT verdict_change_id IF NOT EXISTS FOR (c:VerdictChange) REQUIRE c.id IS UNIQUE;
CREATE INDEX verdict_change_of_failure IF NOT EXISTS FOR (c:VerdictChange) ON (c.failureId);
CREATE INDEX verdict_change_of_verdict IF NOT EXISTS FOR (c:VerdictChange) ON (c.attributionId);
CREATE INDEX verdict_change_of_trace IF NOT EXISTS FOR (c:VerdictChange) ON (c.traceId);
CREATE CONSTRAINT annotation_queue_id IF NOT EXISTS FOR (q:AnnotationQueue) REQUIRE q.id IS UNIQUE;
CREATE INDEX annotation_queue_of_project IF NOT EXISTS FOR (q:AnnotationQueue) ON (q.projectId, q.createdAt);
CREATE CONSTRAINT assignment_id IF NOT EXISTS FOR (a:Assignment) REQUIRE a.id IS UNIQUE;
CREATE INDEX assignment_of_queue IF NOT EXISTS FOR (a:Assignment) ON (a.queueId);
CREATE INDEX assignment_of_person IF NOT EXISTS FOR (a:Assignment) ON (a.projectId, a.person);
