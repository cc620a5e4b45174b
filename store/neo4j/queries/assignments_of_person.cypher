MATCH (a:Assignment)
USING INDEX SEEK a:Assignment(projectId, person)
WHERE a.projectId = $projectId AND a.person = $person
RETURN collect(properties(a)) AS rows
