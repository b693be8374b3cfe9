"""Clusters of the vertices of a network."""
