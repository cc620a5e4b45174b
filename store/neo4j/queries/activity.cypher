MATCH (o:Operation)
USING INDEX SEEK o:Operation(traceId, sequence)
WHERE o.traceId = $traceId AND o.sequence >= 0 AND o.projectId = $projectId
WITH o.sequence / $width AS number, o.kind AS kind, o.status AS status,
  o.startedAt.epochSeconds * 1000000 + o.startedAt.microsecond AS began,
  o.endedAt.epochSeconds * 1000000 + o.endedAt.microsecond AS ended
WITH number, kind, status, count(*) AS count, sum(ended - began) AS micros, max(coalesce(ended, began)) AS last
ORDER BY number, kind, status
RETURN collect([number, kind, status, count, micros, last]) AS rows
