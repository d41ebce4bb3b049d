"""Simulations as data, and the paper's tables and figures as such simulations."""
