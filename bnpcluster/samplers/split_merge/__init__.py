"""Moves that split one cluster or merge two."""
