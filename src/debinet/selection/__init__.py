"""Selectors: which columns of X are treatments."""
