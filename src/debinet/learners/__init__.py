"""Learners of `E([y, D] | Z)` and the engine that cross-fits them."""
