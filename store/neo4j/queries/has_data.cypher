RETURN EXISTS { MATCH (n) WHERE NOT n:Migration AND NOT n:MigrationLock } AS found
