"""Additive splines as a learner."""

from debinet.learners.splines.spline_smoother import SplineSmoother

__all__ = ["SplineSmoother"]
