MATCH (answer:Variable {id: $answer})
MATCH (v:Variable {id: $variable})
WHERE v.projectId = answer.projectId
MATCH path = shortestPath((answer)-[:DERIVED_FROM*]->(v))
RETURN path
