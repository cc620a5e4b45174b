"""Nothing of one project is seen or changed from another, or by nobody: tried with every field and every route."""
