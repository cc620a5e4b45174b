UNWIND $rows AS row
MERGE (q:AnnotationQueue {id: row.id})
ON CREATE SET q = row
WITH q
WHERE q.projectId = $projectId
RETURN count(q) AS count
