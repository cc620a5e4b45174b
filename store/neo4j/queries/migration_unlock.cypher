MATCH (l:MigrationLock {name: 'layout', owner: $owner})
REMOVE l.owner, l.expiresAt
