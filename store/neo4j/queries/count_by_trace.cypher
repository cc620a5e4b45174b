UNWIND $ids AS id
MATCH (t:Trace {id: id})
USING INDEX SEEK t:Trace(id)
WHERE t.projectId = $projectId
// Elements of a project's trace are the project's: comparing their projectId would read each node.
RETURN collect([
  t.id,
  1,
  COUNT {
    MATCH (n:Session {traceId: t.id}) USING INDEX SEEK n:Session(traceId, sequence)
    WHERE n.sequence IS NOT NULL
  },
  COUNT {
    MATCH (n:Operation {traceId: t.id}) USING INDEX SEEK n:Operation(traceId, sequence)
    WHERE n.sequence IS NOT NULL
  },
  COUNT {
    MATCH (n:Variable {traceId: t.id}) USING INDEX SEEK n:Variable(traceId, sequence)
    WHERE n.sequence IS NOT NULL
  },
  COUNT {
    MATCH (:Variable)-[n:DERIVED_FROM {traceId: t.id}]->(:Variable)
    USING INDEX SEEK n:DERIVED_FROM(traceId, sequence)
    WHERE n.sequence IS NOT NULL
  },
  COUNT {
    MATCH (n:Failure {traceId: t.id}) USING INDEX SEEK n:Failure(traceId)
  },
  COUNT {
    MATCH (n:Attribution {traceId: t.id}) USING INDEX SEEK n:Attribution(traceId)
  }
]) AS rows
