UNWIND $ids AS id
MATCH (n:{{label}} {id: id})
USING INDEX SEEK n:{{label}}(id)
WHERE n.projectId = $projectId
WITH properties(n) AS n
RETURN collect([{{properties}}]) AS rows
