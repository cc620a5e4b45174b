MATCH (o:Operation {id: $operation})
OPTIONAL MATCH used = (o)-[:USED]->(:Variable)
OPTIONAL MATCH made = (o)<-[:GENERATED_BY]-(:Variable)
OPTIONAL MATCH ended = (o)<-[:INVALIDATED_BY]-(:Variable)
OPTIONAL MATCH stage = (o)-[:IN_SESSION]->(:Session)-[:PART_OF]->(:Trace)
RETURN o, used, made, ended, stage
