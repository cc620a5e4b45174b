UNWIND $ids AS id
MATCH ({{here}}:Variable {id: id}){{from}}[d:DERIVED_FROM]{{to}}({{there}})
USING INDEX SEEK {{here}}:Variable(id)
WHERE {{here}}.projectId = $projectId AND ($among IS NULL OR {{there}}.id IN $among)
WITH t, s, properties(d) AS d
RETURN collect([{{properties}}]) AS rows
