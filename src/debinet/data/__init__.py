"""Data at the door: validation, folds, formulas, simulated designs."""
