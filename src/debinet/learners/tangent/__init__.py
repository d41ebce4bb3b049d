"""The wide network on features of the rows: linear cost in the number of rows."""

from debinet.learners.tangent.tangent_net import TangentNet

__all__ = ["TangentNet"]
