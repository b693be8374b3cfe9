"""Clusters of 0/1, categories and counts."""
