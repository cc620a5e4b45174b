"""Language models: the way to a server, and the agent that gives verdicts with one."""
