"""Estimators that tie data, learners and inference together."""
