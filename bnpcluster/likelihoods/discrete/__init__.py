"""Clusters of 0/1 values, categories and counts."""
