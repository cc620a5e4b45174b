"""Measures how good a method is: it gets failures without their labels, and its verdicts are compared with these."""
