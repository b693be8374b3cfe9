"""Clusters of mutations, from read counts."""
