"""What is computed of a run, or of many changed ones: sums by source, sweeps of edits, gradients, costs, tables."""
