"""Differences of other encoders from the paper, a file for each."""
