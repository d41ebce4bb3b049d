"""The paper's convergence theory as a tool."""
