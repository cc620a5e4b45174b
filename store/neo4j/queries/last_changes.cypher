UNWIND $ids AS id
MATCH (c:VerdictChange {attributionId: id})
USING INDEX SEEK c:VerdictChange(attributionId)
WHERE c.projectId = $projectId
WITH c.attributionId AS id, max(c.number) AS number
RETURN collect([id, number]) AS rows
