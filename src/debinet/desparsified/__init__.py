"""The desparsified Lasso: nodewise regressions, noise level, penalties, bootstrap."""
