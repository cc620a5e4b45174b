-- For other programs: joins with ids as they are written by commands, such as those in the JSON of losses.
CREATE INDEX operation_by_hex_id ON operation (lower(hex(id)));

-- The operations that lost a piece, like (:Attribution)-[:LOST]->(:Operation) in Neo4j, now with the keys of the rows.
DROP VIEW lost;
CREATE VIEW lost AS
SELECT t.project AS project_id, lower(hex(t.id)) AS trace_id, lower(hex(f.id)) AS failure_id,
       lower(hex(a.id)) AS attribution_id, loss.value ->> 'operationId' AS operation_id, loss.key AS position,
       loss.value ->> 'piece' AS piece, loss.value ->> 'errorType' AS error_type,
       loss.value ->> 'confidence' AS confidence, a.trace_k, a.failure_k, a.k AS attribution_k, o.k AS operation_k
FROM attribution AS a JOIN trace AS t ON t.k = a.trace_k JOIN failure AS f ON f.k = a.failure_k
     JOIN json_each(a.losses) AS loss
     LEFT JOIN operation AS o ON lower(hex(o.id)) = loss.value ->> 'operationId'
WHERE loss.value ->> 'operationId' IS NOT NULL;
