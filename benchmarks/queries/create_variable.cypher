UNWIND $rows AS row
CREATE (v:Variable)
SET v = row, v:$(row.kind), v.createdAt = $epoch + duration({microseconds: row.createdAt})
WITH v, row
MATCH (o:Operation {id: row.operationId})
USING INDEX SEEK o:Operation(id)
CREATE (v)-[:GENERATED_BY]->(o)
