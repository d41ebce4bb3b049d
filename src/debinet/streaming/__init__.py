"""Fits of tables that do not fit in memory: three passes over pieces of the data.

Pass 0 takes means and scales, pass 1 Gram matrices per fold, pass 2 the scores of the rows. What
each pass takes of a block of rows is added up, so blocks may be read anywhere and in any order.
"""
