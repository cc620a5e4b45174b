"""Statistics of verdicts: intervals, agreement, and tests of differences."""
