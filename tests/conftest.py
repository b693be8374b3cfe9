"""Shared data and fits; small, so that the suite is quick."""

import os
import signal

import numpy as np
import pytest

from bnpcluster import DPMixture
from tests.tools import compilations
from tests.tools.dossier import VARIABLE, Dossier


def pytest_addoption(parser):
    """One option: where to write what the proofs measured."""
    known = os.environ.get(VARIABLE)
    parser.addoption("--dossier", metavar="FILE", default=known, help="append what proofs measured")


def pytest_configure(config):
    """Write it, if it is asked for."""
    if config.getoption("--dossier"):
        config.pluginmanager.register(Dossier(config))


LONGEST = ("tests/samplers/test_registry.py",)


def pytest_collection_modifyitems(items):
    """The longest files come first: at the end, they would keep one worker while others idle."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(scope="session", autouse=True)
def compilations_are_named_by_all_that_enters_them():
    """Every function that enters a compilation of the suite is in a file that names it."""
    compilations.record()
    yield
    assert compilations.unreached() == []


def three_blobs(n=60, d=2, seed=0):
    """Rows around three centres, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), n // 3)
    return rng.normal(scale=0.3, size=(len(labels), d)) + 2.0 * (labels - 1)[:, None], labels


@pytest.fixture(scope="session")
def blobs():
    return three_blobs()


@pytest.fixture(scope="session")
def fitted(blobs):
    return DPMixture(n_draws=1000, n_warmup=200, random_state=0).fit(blobs[0])


@pytest.fixture
def interrupts():
    """Python's own handler: a process started in a shell's background has none."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
