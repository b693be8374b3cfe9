import numpy as np
import pytest
from scipy.stats import kstest

from bnpcluster.priors import DirichletProcess
from bnpcluster.testing import log_eppf


def test_golden_numbers():
    prior = DirichletProcess(1.3)
    rows = {(0, 0, 0, 1, 1, 2): -5.7758273586, (0, 0, 0, 0, 0, 0): -2.2062113253}
    for row, value in rows.items():
        assert log_eppf(prior, np.array([row]))[0] == pytest.approx(value, abs=1e-8)
    assert log_eppf(prior, np.array([[0, 1, 2]]))[0] == pytest.approx(-1.5021030625, abs=1e-8)
    assert np.exp(prior.predictive(np.array([3, 2, 1])))[-1] == pytest.approx(0.1780821918)
    assert prior.tables(1000, 20).log_v[20] == pytest.approx(-5909.06158954, abs=1e-6)


@pytest.mark.parametrize(("n", "k", "shape", "rate"), [(20, 4, 2.0, 0.7), (2, 1, 1.0, 0.5)])
def test_escobar_west_against_the_exact_conditional(n, k, shape, rate):
    """One update from exact draws of alpha given K has the exact conditional distribution."""
    grid = np.linspace(1e-4, 60, 200_000)
    tables = [DirichletProcess().at(alpha=a).tables(n, k).log_v[k] for a in grid[::100]]
    log_density = np.interp(grid, grid[::100], tables) + (shape - 1) * np.log(grid) - rate * grid
    cdf = np.cumsum(np.exp(log_density - log_density.max()))
    cdf /= cdf[-1]
    rng = np.random.default_rng(0)
    prior = DirichletProcess((shape, rate))
    starts = np.interp(rng.random(20_000), cdf, grid)
    ends = [prior.at(alpha=a).update(np.ones(k), n, rng).values["alpha"] for a in starts]
    assert kstest(ends, lambda a: np.interp(a, grid, cdf)).pvalue > 1e-3


@pytest.mark.parametrize("alpha", [0, -1.0, "many", (1.0,), (1.0, -2.0), None, True, np.nan])
def test_bad_alpha_gets_one_sentence(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        DirichletProcess(alpha).validate()


def test_fixed_alpha_stays():
    prior = DirichletProcess(0.7)
    assert prior.update(np.array([3, 2]), 5, np.random.default_rng(0)) is prior
    assert prior.sampled == ()
    assert DirichletProcess().sampled == ("alpha",)
