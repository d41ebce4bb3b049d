"""Networks trained with PyTorch; no other package of learners imports torch."""
