"""The evaluation harness: runs a program over a data set's conversations, records the runs and judges the answers."""
