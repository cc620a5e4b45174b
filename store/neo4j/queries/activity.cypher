MATCH (o:Operation)
USING INDEX SEEK o:Operation(traceId, sequence)
WHERE o.traceId = $traceId AND o.sequence >= 0 AND o.projectId = $projectId
WITH o.sequence / $width AS number, o.kind AS kind, o.status AS status,
  o.startedAt.epochMillis * 1000 + o.startedAt.microsecond % 1000 AS began,
  o.endedAt.epochMillis * 1000 + o.endedAt.microsecond % 1000 AS ended
WITH number, kind, status, count(*) AS count, sum(ended - began) AS micros, max(coalesce(ended, began)) AS last
ORDER BY number, kind, status
RETURN collect([number, kind, status, count, micros, last]) AS rows
