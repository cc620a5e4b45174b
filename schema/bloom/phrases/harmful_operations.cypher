MATCH (f:Failure {projectId: $project})<-[:EXPLAINS]-(:Attribution)-[:BLAMES]->(o:Operation)
WHERE f.traceId IS NOT NULL
WITH o, count(DISTINCT f) AS failures
WHERE failures > toInteger($times)
MATCH (o)<-[:GENERATED_BY]-(:Variable)<-[:DERIVED_FROM*0..]-(v)
WITH DISTINCT o, v
WHERE v.right
RETURN o, v
LIMIT 1000
