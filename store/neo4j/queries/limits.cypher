SHOW SETTINGS
YIELD name, value
WHERE name IN ['db.memory.transaction.max', 'dbms.memory.transaction.total.max', 'db.transaction.timeout']
RETURN name, value
