"""Mistakes with parameters, written from the documentation alone, and the replies to them."""

from pathlib import Path

import numpy as np
import pytest

from bnpcluster import (
    BNPMixture,
    DPMixture,
    FiniteDirichletMixture,
    MFMMixture,
    NGGMixture,
    PitmanYorMixture,
)
from bnpcluster.likelihoods import NormalInverseWishart, Poisson, Wishart
from bnpcluster.priors import DirichletProcess
from bnpcluster.samplers import AnnealedSMC, Gibbs
from tests.tools.mistakes import N, X, check, fit, table


@table(
    ("number of clusters", lambda: DPMixture(n_components=3), "FiniteDirichletMixture"),
    ("number of clusters of KMeans", lambda: DPMixture(n_clusters=3), "max_clusters"),
    ("seed", lambda: DPMixture(seed=0), "random_state"),
    ("iterations", lambda: DPMixture(n_iter=100), "n_draws"),
    ("most iterations", lambda: DPMixture(max_iter=100), "n_draws"),
    ("samples", lambda: DPMixture(n_samples=100), "n_draws"),
    ("burn-in", lambda: DPMixture(burn_in=100), "n_warmup"),
    ("tuning", lambda: DPMixture(tune=100), "n_warmup"),
    ("chains", lambda: DPMixture(chains=4), "n_chains"),
    ("kind of covariance", lambda: DPMixture(covariance_type="diag"), "likelihood='nig'"),
    ("concentration", lambda: DPMixture(concentration=1.0), "alpha"),
    ("gamma", lambda: DPMixture(gamma=1.0), "alpha"),
    ("prior", lambda: DPMixture(prior="py"), "BNPMixture"),
    ("misspelt", lambda: DPMixture(n_draw=3), "Did you mean 'n_draws'"),
    ("unheard of", lambda: DPMixture(wings=2), "no parameter 'wings'"),
    ("without a name", lambda: DPMixture(3), "by name"),
    ("unknown name set", lambda: DPMixture().set_params(n_components=3), "n_components"),
    ("discount of DP", lambda: DPMixture(discount=0.5), "PitmanYorMixture"),
    ("misspelt kappa", lambda: NormalInverseWishart(kapa=1), "Did you mean 'kappa'?"),
    ("misspelt scale", lambda: Wishart(scael=1), "Wishart has no parameter 'scael'"),
    ("kappa without a name", lambda: NormalInverseWishart(1), "NormalInverseWishart(mean=...)"),
    ("misspelt alpha", lambda: DirichletProcess(alhpa=1), "Did you mean 'alpha'?"),
    ("particles", lambda: AnnealedSMC(particles=9), "Did you mean 'n_particles'?"),
    ("unheard of hyper-parameter", lambda: Poisson(wings=2), "It has shape, rate."),
)
def test_names(mistake, fragment):
    check(mistake, fragment)


@table(
    ("alpha of zero", lambda: fit(alpha=0), "alpha must be positive"),
    ("word for alpha", lambda: fit(alpha="large"), "alpha must be a number"),
    ("single alpha in a tuple", lambda: fit(alpha=(1,)), "(shape, rate)"),
    ("negative rate", lambda: fit(alpha=(1, -1)), "alpha"),
    ("alpha is nan", lambda: fit(alpha=np.nan), "alpha"),
    ("discount above 1", lambda: fit(model=PitmanYorMixture, discount=1.5), "discount"),
    ("no components", lambda: fit(model=FiniteDirichletMixture, n_components=0), "n_components"),
    ("half a component", lambda: fit(model=FiniteDirichletMixture, n_components=2.5), "integer"),
    ("negative gamma", lambda: fit(model=MFMMixture, gamma=-1), "gamma"),
    ("unknown prior of K", lambda: fit(model=MFMMixture, n_components_prior="flat"), "'gnedin'"),
    ("tau of zero", lambda: fit(model=NGGMixture, tau=0), "tau"),
    ("sigma of two", lambda: fit(model=NGGMixture, sigma=2), "sigma"),
    ("unknown prior", lambda: fit(model=BNPMixture, prior="dirichlet"), "Available: 'dp'"),
    ("prior is a class", lambda: fit(model=BNPMixture, prior=Gibbs), "prior must be one of"),
    ("unknown likelihood", lambda: fit(likelihood="gaussian"), "Did you mean 'niw'"),
    ("class as likelihood", lambda: fit(likelihood=Poisson), "write Poisson()"),
    ("no likelihood", lambda: fit(likelihood=None), "likelihood must be one of"),
    ("unknown sampler", lambda: fit(sampler="nuts"), "Unknown sampler 'nuts'"),
    ("no sampler", lambda: fit(sampler=None), "sampler must be one of"),
    ("class as sampler", lambda: fit(sampler=Gibbs), "write Gibbs()"),
    ("name as move", lambda: fit(sampler=AnnealedSMC(move="gibbs")), "move must be"),
    ("particles of chains", lambda: fit(n_particles=9), "has no particles"),
    ("no particles", lambda: fit(sampler="urn_smc", n_particles=0), "n_particles must be"),
    ("negative kappa", lambda: fit(likelihood=NormalInverseWishart(kappa=-1)), "kappa"),
    ("mean of three", lambda: fit(likelihood=NormalInverseWishart(mean=[0, 0, 0])), "2 columns"),
    ("covariance of a row", lambda: fit(likelihood=NormalInverseWishart(psi=[1, 2, 3])), "psi"),
)
def test_models(mistake, fragment):
    check(mistake, fragment)


@table(
    ("draws as text", lambda: fit(n_draws="100"), "n_draws must be an integer"),
    ("draws as float", lambda: fit(n_draws=1e3), "n_draws must be an integer"),
    ("no draws", lambda: fit(n_draws=0), "n_draws must be at least 1"),
    ("negative warm-up", lambda: fit(n_warmup=-1), "n_warmup must be at least 0"),
    ("no chains", lambda: fit(n_chains=0), "n_chains must be at least 1"),
    ("chains as text", lambda: fit(n_chains="4"), "n_chains must be an integer"),
    ("jobs as text", lambda: fit(n_jobs="x"), "n_jobs must be None or an integer"),
    ("no jobs", lambda: fit(n_jobs=0), "n_jobs must not be 0"),
    ("countless jobs", lambda: fit(n_jobs=10**400), "n_jobs must be from"),
    ("countless draws", lambda: fit(n_draws=10**20), "n_draws must be at most"),
    ("half jobs", lambda: fit(n_jobs=2.5), "n_jobs must be None or an integer"),
    ("jobs of particles", lambda: fit(n_jobs="x", sampler="urn_smc"), "n_jobs must be None"),
    ("thinning by zero", lambda: fit(thin=0), "thin must be at least 1"),
    ("most draws", lambda: fit(max_draws=0, n_draws="auto"), "max_draws must be at least 1"),
    ("unknown start", lambda: fit(init="k-means++"), "Did you mean 'kmeans'"),
    ("few labels", lambda: fit(init=[0, 1]), f"({N},)"),
    ("labels as floats", lambda: fit(init=np.zeros(N)), "integer labels"),
    ("labels as words", lambda: fit(init=["a"] * N), "integer labels"),
    ("unknown estimate", lambda: fit(point_estimate="mean"), "Unknown point_estimate 'mean'"),
    ("cost above two", lambda: fit(point_estimate=("vi", 3)), "below 2"),
    ("number as estimate", lambda: fit(point_estimate=3), "point_estimate"),
    ("merge above one", lambda: fit(merge=2), "merge must be"),
    ("word for merge", lambda: fit(merge="yes"), "merge must be"),
    ("no clusters", lambda: fit(max_clusters=0), "max_clusters must be"),
    ("small clusters", lambda: fit(min_cluster_size=-1), "min_cluster_size must be"),
    ("time with a unit", lambda: fit(max_time="10s"), "max_time must be"),
    ("no time", lambda: fit(max_time=0), "max_time must be"),
    ("number as checkpoint", lambda: fit(checkpoint=5), "checkpoint must be None or a directory"),
    ("long checkpoint", lambda: fit(checkpoint="x" * 300), "checkpoint"),
    ("home of nobody", lambda: fit(checkpoint="~nouser/x"), "checkpoint"),
    ("zero byte", lambda: fit(checkpoint="a\0b"), "checkpoint"),
    ("word as seed", lambda: fit(random_state="x"), "random_state must be None"),
    ("negative seed", lambda: fit(random_state=-1), "must not be negative"),
    ("fractional seed", lambda: fit(random_state=1.5), "random_state must be None"),
    ("word for verbose", lambda: fit(verbose="yes"), "verbose must be"),
    ("unknown handling", lambda: fit(handle_unknown="ignore"), "'error', 'missing'"),
    ("word for warm start", lambda: fit(warm_start="no"), "warm_start must be"),
)
def test_settings(mistake, fragment):
    check(mistake, fragment)


def test_a_file_is_no_directory_for_checkpoints(tmp_path):
    file = tmp_path / "file"
    file.write_text("something")
    check(lambda: fit(checkpoint=Path(file)), "must be a directory")
    check(lambda: fit(checkpoint=file / "below"), "checkpoint")


def test_right_parameters_are_no_mistake():
    assert DirichletProcess(2.0).alpha == 2.0
    assert fit(X, n_jobs=-1, n_draws=np.int64(3), checkpoint=None).labels_.shape == (N,)
    with pytest.raises(TypeError):
        DPMixture(alpha=1.0, wings=2)
