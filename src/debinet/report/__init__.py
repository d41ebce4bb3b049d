"""Tables and plots. Everything here works on frames and computes no statistic."""
