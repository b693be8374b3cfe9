"""Moves that rebuild clusters on which the chains disagree."""
