CREATE CONSTRAINT migration_lock_name IF NOT EXISTS FOR (l:MigrationLock) REQUIRE l.name IS UNIQUE
