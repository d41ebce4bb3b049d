"""Feature selectors: which columns of X are of interest."""
