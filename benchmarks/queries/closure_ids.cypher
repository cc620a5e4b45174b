MATCH (:Variable {id: $id})-[:DERIVED_FROM*0..]->(v)
RETURN collect(DISTINCT v.id) AS ids
