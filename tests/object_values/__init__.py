"""Values outside the database: in a folder, and in a real S3-compatible server."""
