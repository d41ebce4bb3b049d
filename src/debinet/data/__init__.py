"""Reading data: validation, folds, formulas, simulated designs."""
