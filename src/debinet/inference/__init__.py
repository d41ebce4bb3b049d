"""From residuals to coefficients, covariances, intervals and tests."""
