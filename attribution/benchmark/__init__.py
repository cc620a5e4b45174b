"""Measures methods: failures are attributed without their labels, and the verdicts compared with the labels."""
