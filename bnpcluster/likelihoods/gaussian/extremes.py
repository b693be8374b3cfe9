"""Rows so extreme that, in one block, they would leave the other rows no digits.

A cell may be mistyped by many powers of ten. A block that holds such a row has a scatter matrix
of the size of its square. Double precision has no room for the scatter of the other rows beside
it, so subtraction would not bring it back.
"""

LOST = 1e-8  # a row that leaves a smaller share of the determinant is too extreme to subtract
FLAT = 1e-12  # where a smaller share of a variance is left by other columns, sums lose its digits
