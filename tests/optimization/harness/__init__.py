"""Tests of the harness: data sets, programs, runs."""
