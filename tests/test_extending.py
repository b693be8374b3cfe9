"""The page on extending is true: its code runs, and its components pass the package's checks."""

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import expon, gamma, kstest, lomax

from bnpcluster import DPMixture
from bnpcluster import extending as ops
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import Gibbs, SplitMerge, UrnSMC
from bnpcluster.testing import check_likelihood, check_particles, check_sampler

EXAMPLES = Path(__file__).parents[1] / "examples"
TIMES = np.array([[0.2, 3.0], [0.4, 2.0], [5.0, 0.1], [4.0, 0.3], [1.0, 1.0], [0.7, 0.9]])


@pytest.fixture
def waiting(monkeypatch):
    """The likelihood of waiting times."""
    monkeypatch.syspath_prepend(EXAMPLES)
    yield __import__("new_likelihood").Exponential
    sys.modules.pop("new_likelihood")


def test_it_has_forty_lines():
    """Beside imports, docstrings and empty lines."""
    text = (EXAMPLES / "new_likelihood.py").read_text()
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    code = [line for line in lines if line.strip() and not line.strip().startswith(('"""', "#"))]
    assert len(code) == 40


def test_no_example_or_page_imports_a_private_name():
    root = EXAMPLES.parent
    pages = [*root.glob("doc/**/*.md"), *EXAMPLES.glob("*.py"), root / "README.md"]
    assert len(pages) > 20
    for page in pages:
        if "_build" in page.parts:
            continue
        found = re.findall(r"^\s*(?:from|import) bnpcluster[.\w]*\._\w+.*$", page.read_text(), re.M)
        assert not found, f"{page.name}: {found}"


def test_its_marginal_is_the_integral_over_the_rate(waiting):
    bound = waiting(a=2.0, b=0.5).bind(TIMES, 4)
    ops.clear(bound, 0)
    for i in range(3):
        ops.add(bound, 0, i)

    def integrand(rate):
        return expon.pdf(TIMES[:3], scale=1 / rate).prod() * gamma.pdf(rate, 2.0, scale=2.0)

    exact, _ = quad(integrand, 0, np.inf)
    assert ops.log_marginal(bound, 0) == pytest.approx(np.log(exact), rel=1e-8)


def test_it_keeps_the_contract_and_every_kind_of_sampler_is_right_on_it(waiting):
    check_likelihood(waiting(a=2.0, b=0.5), TIMES)
    for sampler in (Gibbs(), SplitMerge()):
        check_sampler(sampler, waiting(), DirichletProcess(1.0), TIMES[:4], n_replicates=2000)
    check_particles(UrnSMC(n_particles=8), waiting(), DirichletProcess(1.0), TIMES[:4])


def test_its_samples_follow_the_predictive(waiting):
    likelihood = waiting(a=2.0, b=0.5)
    bound = likelihood.bind(TIMES, 4)
    bound.sums[0] = 6.0, 4.0
    draws = [likelihood.sample(bound, 0, np.random.default_rng(seed)) for seed in range(2000)]
    for column in np.transpose(draws):
        assert kstest(column, lomax(8.0, scale=4.5).cdf).pvalue > 1e-4


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mixtures_predict_sample_and_refuse_with_it(waiting):
    quick = {"n_draws": 20, "n_warmup": 20, "random_state": 0}
    model = DPMixture(likelihood=waiting(), **quick).fit(TIMES[:, 1:])
    assert (model.sample(5, random_state=0) > 0).all()
    total, _ = quad(lambda x: np.exp(model.score_samples([[x]])[0]), 0, np.inf, limit=200)
    assert total == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ValueError, match="Waiting times must be positive"):
        model.predict([[-1.0]])
