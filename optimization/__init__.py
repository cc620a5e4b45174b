"""What would have helped: evaluates programs, proves verdicts by corrected replays, and optimizes prompts."""
