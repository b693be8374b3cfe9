"""Suggestions for mistyped names."""

import pytest

from bnpcluster._core.suggestions import nearest, unknown


@pytest.mark.parametrize(
    ("word", "name"),
    [("heigth", "height"), ("WEIGHT", "weight"), ("wheight", "weight"), ("colour", None)],
)
def test_the_nearest_name(word, name):
    assert nearest(word, ["weight", "height"]) == name


def test_swapped_letters_beat_likeness():
    assert nearest("height", ["weight", "heigth"]) == "heigth"


def test_names_of_other_packages_are_known():
    assert "Did you mean 'niw'?" in unknown("likelihood", "Gaussian", ["niw", "nig"])
    assert "Did you mean" not in unknown("prior", "gaussian", ["dp", "py"])
