"""Classical smoothers."""

from debinet.learners.smoothers.local_linear import LocalLinear
from debinet.learners.smoothers.nadaraya_watson import NadarayaWatson

__all__ = ["LocalLinear", "NadarayaWatson"]
