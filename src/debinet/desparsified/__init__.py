"""The desparsified Lasso: initial Lasso, nodewise regressions, penalties, bootstrap."""
