"""Learners that are ridge regression in the eigenvectors of a kernel: one algebra for all."""
