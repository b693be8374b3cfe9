"""Columns of different kinds, side by side."""
