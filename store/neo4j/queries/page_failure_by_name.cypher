// A failure with several verdicts that fit the filter stands at the first of their places. The server does not compare
// texts by code points, so `places` has the place of each name, and the names are taken one after the other.
UNWIND $bounds.names AS name
CALL (name) {
  MATCH (a:Attribution)
  USING INDEX SEEK a:Attribution(projectId, {{key}}, failureId)
  WHERE a.projectId = $projectId AND a.{{key}} = left(name, 200)
    AND a.failureId {{beyond}} CASE WHEN name = $bounds.key THEN $bounds.last ELSE $bounds.start END AND a.{{name}} = name
    AND NOT a.failureId IN $wanted.without
    AND {{wanted.verdict a}}
  MATCH (a)-[:EXPLAINS]->(f)
  WHERE {{wanted.failure}}
    AND NOT EXISTS {
      (f)<-[:EXPLAINS]-(b)
      WHERE ($bounds.places[b.{{name}}] < $bounds.places[name] OR (b.{{name}} = name AND b.id < a.id))
        AND {{wanted.verdict b}}
    }
  WITH a ORDER BY a.projectId {{order}}, a.{{key}} {{order}}, a.failureId {{order}} LIMIT $count
  RETURN a.failureId AS id
}
WITH name, id LIMIT $count
RETURN collect([name, id]) AS keys
