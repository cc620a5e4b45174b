"""Tests verdicts by replay: the program runs again with the blamed operation corrected.

A verdict is then proved, refuted or unsettled.
"""
