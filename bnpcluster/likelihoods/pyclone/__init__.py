"""Clusters of mutations, by the reads that show them."""
