"""Classical smoothers."""

from debinet.learners.smoothers.nadaraya_watson import NadarayaWatson

__all__ = ["NadarayaWatson"]
