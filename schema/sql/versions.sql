SELECT other.k FROM variable AS v
     JOIN variable AS other ON other.name_k = v.name_k AND other.class_k IS v.class_k AND other.occurrence = 0
     JOIN trace AS t ON t.k = v.trace_k
WHERE v.id = unhex(:id) AND t.project = :project AND other.trace_k = v.trace_k
