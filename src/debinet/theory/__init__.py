"""The paper's convergence theory as a tool: kernels, rates, and whether Theorem 1 holds on data.

Everything is in double precision and on numpy, except `tangent_kernel`, which needs torch.
"""

from debinet.theory.autodiff import tangent_kernel
from debinet.theory.check import check_convergence
from debinet.theory.convergence import Convergence
from debinet.theory.finite import KernelDistance, finite_kernel, kernel_distance
from debinet.theory.gradient_flow import flow, linearized_errors
from debinet.theory.inputs import normalize_rows
from debinet.theory.limit import Rate, convergence_rate, limiting_kernel
from debinet.theory.network import TwoLayerNetwork, draw_network

__all__ = [
    "Convergence",
    "KernelDistance",
    "Rate",
    "TwoLayerNetwork",
    "check_convergence",
    "convergence_rate",
    "draw_network",
    "finite_kernel",
    "flow",
    "kernel_distance",
    "limiting_kernel",
    "linearized_errors",
    "normalize_rows",
    "tangent_kernel",
]
