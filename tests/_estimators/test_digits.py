"""Numbers in reports."""

import numpy as np
import pytest

from bnpcluster._estimators.digits import short


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (-999.0, "-999"),
        (-998.593, "-999"),
        (-999.7, "-999.7"),
        (999.98, "1000"),
        (-9999.0, "-9999"),
        (99999.4, "99999"),
        (1234.5, "1234"),
        (0.0012345, "0.00123"),
        (1e-9, "1e-09"),
        (3.0e8, "3e+08"),
        (np.inf, "inf"),
        (np.nan, "nan"),
    ],
)
def test_numbers_of_usual_size_have_no_powers_of_ten(number, text):
    assert short(number) == text


def test_more_digits():
    assert [short(x, 4) for x in (-999.7, 9999.7, 12345.6)] == ["-999.7", "9999.7", "12346"]
