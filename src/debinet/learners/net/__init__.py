"""Networks trained on PyTorch; the only package of learners that imports torch."""
