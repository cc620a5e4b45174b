MERGE (l:MigrationLock {name: 'layout'})
SET l.asked = $owner
WITH l
WHERE l.owner IS NULL OR l.owner = $owner OR l.expiresAt < datetime()
SET l.owner = $owner, l.expiresAt = datetime() + duration({seconds: $seconds})
RETURN l.owner AS owner
