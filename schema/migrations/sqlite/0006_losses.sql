-- Where each piece of what an answer needs ended, by each verdict, and what kind of question it was.

ALTER TABLE attribution ADD COLUMN losses TEXT NOT NULL DEFAULT '[]';
ALTER TABLE attribution ADD COLUMN question_kind TEXT;

-- For other programs: the operations that lost a piece, as (:Attribution)-[:LOST]->(:Operation) in Neo4j.
CREATE VIEW lost AS
SELECT t.project AS project_id, lower(hex(t.id)) AS trace_id, lower(hex(f.id)) AS failure_id,
       lower(hex(a.id)) AS attribution_id, loss.value ->> 'operationId' AS operation_id, loss.key AS position,
       loss.value ->> 'piece' AS piece, loss.value ->> 'errorType' AS error_type,
       loss.value ->> 'confidence' AS confidence
FROM attribution AS a JOIN trace AS t ON t.k = a.trace_k JOIN failure AS f ON f.k = a.failure_k
     JOIN json_each(a.losses) AS loss
WHERE loss.value ->> 'operationId' IS NOT NULL;
