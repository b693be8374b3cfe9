"""Moves that take clusters apart where chains disagree."""
