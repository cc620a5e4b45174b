"""What would have helped: proof of verdicts by replay, and prompts that verdicts improve, with a gate in front."""
