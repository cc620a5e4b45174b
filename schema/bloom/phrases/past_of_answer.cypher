MATCH (answer:Variable {id: $answer})-[:DERIVED_FROM*0..]->(v)
WITH DISTINCT v
OPTIONAL MATCH path = (v)-[:DERIVED_FROM]->(:Variable)
RETURN v, path
