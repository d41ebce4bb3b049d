"""Compiled solvers that several layers share; nothing here knows of data or models."""
