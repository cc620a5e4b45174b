"""Tests of what would have helped."""
