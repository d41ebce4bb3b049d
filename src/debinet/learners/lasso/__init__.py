"""The cross-validated Lasso as a learner."""

from debinet.learners.lasso.lasso_learner import LassoLearner

__all__ = ["LassoLearner"]
