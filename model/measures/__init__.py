"""Measurements that need the network: sums by source, sweeps of edits, gradients, costs, tables."""
