"""The over-parameterized network in its infinite-width limit, solved exactly."""

from debinet.learners.spectral.tuning import StoppingPath
from debinet.learners.wide.wide_net import WideNet

__all__ = ["StoppingPath", "WideNet"]
