"""Fits of tables that do not fit in memory: three passes over pieces of the data.

Pass 0 computes means and scales, pass 1 Gram matrices per fold, pass 2 the scores of the rows. The
sums over blocks of rows are added up, so blocks may be read anywhere and in any order.
"""
