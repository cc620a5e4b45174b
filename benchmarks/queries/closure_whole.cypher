// The causal past of a variable, a row an item, as whole nodes and relationships.
MATCH (:Variable {id: $id})-[:DERIVED_FROM*0..]->(v)
WITH DISTINCT v
RETURN v AS item, null AS target, null AS source
UNION ALL
MATCH (:Variable {id: $id})-[:DERIVED_FROM*0..]->(t)
WITH DISTINCT t
MATCH (t)-[d:DERIVED_FROM]->(s)
RETURN d AS item, t.id AS target, s.id AS source
