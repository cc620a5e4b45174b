// Setting a property locks the changes, so that the later of two undos sees the result of the first.
MATCH (c:VerdictChange {attributionId: $id})
USING INDEX SEEK c:VerdictChange(attributionId)
WHERE c.projectId = $projectId
SET c.askedBy = $by
RETURN collect(properties(c)) AS rows
