"""Tables of mutations through the mixtures: in, out, and what the posterior says of prevalence."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import softmax

from bnpcluster import DPMixture
from bnpcluster.likelihoods import NormalInverseWishart, PyClone
from bnpcluster.posterior import Posterior
from bnpcluster.priors import DirichletProcess
from bnpcluster.pyclone import mutations, prevalences
from bnpcluster.testing import all_partitions
from tests._predict.test_predictive import exactly_fitted

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LIKELIHOOD = PyClone(n_grid=11)


def tidy(n=12, seed=0):
    """Two clusters in samples "a" and "b", rows in no order; mutation 3 is not seen in "b"."""
    rng = np.random.default_rng(seed)
    phi = np.array([[0.9, 0.2], [0.3, 0.7]])[np.arange(n) % 2]
    rows = [
        {"mutation_id": f"m{i}", "sample_id": "ab"[s], "alt_counts": rng.binomial(200, x / 2)}
        for i in range(n)
        for s, x in enumerate(phi[i])
        if (i, s) != (3, 1)
    ]
    table = pd.DataFrame(rows).assign(normal_cn=2, major_cn=1, minor_cn=1, tumour_content=1.0)
    table["ref_counts"] = 200 - table["alt_counts"]
    return table.sample(frac=1.0, random_state=seed).set_index(np.arange(len(table)) + 100)


def fitted(table, **parameters):
    settings = {"n_draws": 20, "n_warmup": 20, "n_chains": 2, "sampler": "gibbs", "random_state": 0}
    return DPMixture(likelihood="pyclone", **{**settings, **parameters}).fit(table)


@pytest.fixture(scope="module")
def table():
    return tidy()


@pytest.fixture(scope="module")
def model(table):
    return fitted(table)


def test_rows_are_mutations_in_the_order_of_first_appearance(table):
    rows = mutations(table)
    order = table["mutation_id"].drop_duplicates().tolist()
    assert rows.shape == (12, 12)
    for _, row in table.iterrows():
        found = rows.loc[order.index(row["mutation_id"])]
        for name in ("ref_counts", "alt_counts", "normal_cn", "tumour_content"):
            assert found[f"{row['sample_id']} {name}"] == row[name]
    assert rows.isna().sum().sum() == 6
    assert rows.loc[order.index("m3"), "b ref_counts":].isna().all()


def test_tumour_content_is_one_unless_given(table):
    with pytest.warns(UserWarning, match=r"no column 'tumour_content': all samples.*\(1\.0\)\.$"):
        rows = mutations(table.drop(columns="tumour_content"))
    pd.testing.assert_frame_equal(rows, mutations(table))
    american = table.rename(columns={"tumour_content": "tumor_content"})
    with pytest.warns(UserWarning, match="Did you mean 'tumor_content'"):
        mutations(american)


def test_reads_that_were_not_counted_are_a_missing_sample(table):
    first = table.index[0]
    unknown = table.astype({"ref_counts": float, "alt_counts": float})
    unknown.loc[first, ["ref_counts", "alt_counts"]] = np.nan
    rows = mutations(unknown)
    at = [f"{table['sample_id'][first]} {name}" for name in ("ref_counts", "major_cn")]
    assert rows.loc[0, at].isna().all()
    assert rows.isna().sum().sum() == mutations(table).isna().sum().sum() + 6


@pytest.mark.parametrize("key", ["mutation_id", "sample_id"])
@pytest.mark.parametrize("empty", [None, np.nan, ""])
def test_every_row_names_its_mutation_and_sample(table, key, empty):
    nameless = table.reset_index(drop=True).astype({key: object})
    nameless.loc[3, key] = empty
    with pytest.raises(ValueError, match=f"Column '{key}' is empty in row 4"):
        mutations(nameless)


def test_polars_tables_are_read_alike(table):
    rows = mutations(pl.from_pandas(table))
    assert isinstance(rows, pl.DataFrame)
    np.testing.assert_array_equal(rows.to_numpy(), mutations(table).to_numpy())


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t: t.drop(columns="major_cn"), "has no column 'major_cn'"),
        (lambda t: t.drop(columns="sample_id"), "has no column 'sample_id'"),
        (
            lambda t: t.rename(columns={"mutation_id": "mutation_ids"}),
            "Did you mean 'mutation_ids'",
        ),
        (lambda t: pd.concat([t, t[t.mutation_id == "m5"]]), "several rows for mutation 'm5' in"),
        (lambda t: t.assign(error_rate=0.01), "drop the column and give PyClone.error_rate"),
        (lambda t: t.assign(minor_cn=2), "PyClone needs minor_cn of at most major_cn"),
    ],
)
def test_bad_tables_get_one_sentence(table, edit, message):
    with pytest.raises(ValueError, match=message):
        fitted(edit(table))


def test_the_error_rate_of_a_table_must_be_that_of_the_law(table):
    with_rate = table.assign(error_rate=0.01)
    likelihood = PyClone(error_rate=0.01)
    assert likelihood.table(with_rate).shape == (12, 12)
    assert mutations(with_rate, error_rate=0.01).shape == (12, 12)


def test_a_fit_has_one_label_per_mutation(table, model):
    order = table["mutation_id"].drop_duplicates().str[1:].astype(int).to_numpy()
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], order % 2 == order[0] % 2)
    assert model.feature_names_in_[7] == "b alt_counts"


def test_the_report_is_about_mutations_samples_and_prevalences(table, model):
    text = str(model.report())
    n, samples = table["mutation_id"].nunique(), table["sample_id"].unique()
    assert f"  {n} mutations in {len(samples)} samples" in text
    prevalence = model.describe()[samples[0]][0]
    assert " mutations, share " in text and " rows, share" not in text
    assert re.search(rf"prevalence {samples[0]} {prevalence:.3g} \(.* to .*\); {samples[1]} ", text)


def test_tables_and_their_arrays_give_the_same_draws(table, model):
    again = fitted(mutations(table).to_numpy())
    np.testing.assert_array_equal(again.posterior_.labels, model.posterior_.labels)


def test_new_tables_are_predicted(table, model):
    some = table[table["mutation_id"].isin(["m2", "m3", "m7"])]
    names = some["mutation_id"].drop_duplicates().tolist()
    order = table["mutation_id"].drop_duplicates().tolist()
    at = [order.index(name) for name in names]
    np.testing.assert_array_equal(model.predict(some), model.labels_[at])
    assert model.score_samples(some).shape == (3,)
    with pytest.raises(ValueError, match="The fit had no sample 'c'"):
        model.predict(some.replace({"sample_id": {"b": "c"}}))


def test_new_mutations_may_lack_a_sample_altogether(table, model):
    of_a, everything = table[table["sample_id"] == "a"], mutations(table)
    order = table["mutation_id"].drop_duplicates().tolist()
    rows = everything.iloc[[order.index(name) for name in of_a["mutation_id"]]].copy()
    rows.iloc[:, 6:] = np.nan
    np.testing.assert_array_equal(model.predict_proba(of_a), model.predict_proba(rows))


def test_a_fit_keeps_its_likelihood(table):
    model = fitted(table, n_draws=2, n_warmup=0)
    labels = model.predict(table)
    np.testing.assert_array_equal(model.set_params(likelihood="niw").predict(table), labels)


class Closed(NormalInverseWishart):
    """A likelihood that cannot take NaN."""

    takes_nan = False


def test_other_likelihoods_still_refuse_nan():
    with pytest.raises(ValueError, match="contains NaN"):
        DPMixture(likelihood=Closed()).fit([[1.0, np.nan], [2.0, 3.0]])


def test_particles_take_tables(table):
    model = fitted(table, sampler="urn_smc", n_particles=50)
    assert model.n_clusters_ == 2
    more = tidy(seed=5)
    model.partial_fit(more.assign(mutation_id=more["mutation_id"] + "x"))
    assert len(model.labels_) == 24


def exactly(table, prior):
    """A fit whose draws are all partitions, weighted by the posterior."""
    X = mutations(table).to_numpy()
    fit, exact = exactly_fitted(LIKELIHOOD, prior, X, len(X))
    posterior = Posterior(exact.partitions[None], weights=exact.probabilities[None])
    labels = fit.estimate
    return SimpleNamespace(labels_=labels, posterior_=posterior, _fitted=fit._replace(X=X)), exact


def small():
    """Four mutations at low depth, one of them not seen in the second sample."""
    keys = {"mutation_id": list("wwxxyyz"), "sample_id": list("1212121")}
    counts = {"ref_counts": [9, 4, 7, 5, 2, 6, 8], "alt_counts": [1, 5, 2, 4, 7, 1, 3]}
    copies = {"normal_cn": 2, "major_cn": [1, 2, 1, 1, 1, 1, 2], "minor_cn": [1, 1, 1, 1, 1, 0, 0]}
    return pd.DataFrame({**keys, **counts, **copies}).assign(tumour_content=1.0)


def test_prevalences_are_averages_over_all_partitions(monkeypatch):
    monkeypatch.setattr("bnpcluster.pyclone.check_is_fitted", lambda model: None)
    table = small()
    model, exact = exactly(table, DirichletProcess(0.9))
    found = prevalences(model, table, level=0.8)
    terms = LIKELIHOOD.bind(model._fitted.X).log_terms[LIKELIHOOD.bind(model._fitted.X).kind][
        ..., :11
    ]
    terms[3, 1] = 0.0  # it was not seen there
    grid, posterior = np.linspace(0, 1, 11), np.zeros((4, 2, 11))
    agreement = np.zeros(4)
    for row, p in zip(all_partitions(4), exact.probabilities, strict=True):
        for i in range(4):
            block = row == row[i]
            posterior[i] += p * softmax(terms[block].sum(axis=0), axis=1)
            agreement[i] += p * np.mean(model.labels_[block] == model.labels_[i])
    for r, (i, s) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]):
        row, below = found.iloc[r], posterior[i, s].cumsum()
        mean = posterior[i, s] @ grid
        assert row["cellular_prevalence"] == pytest.approx(mean, abs=1e-9)
        spread = np.sqrt(posterior[i, s] @ (grid - mean) ** 2)
        assert row["cellular_prevalence_std"] == pytest.approx(spread, abs=1e-9)
        assert row["cellular_prevalence_lower"] == grid[np.argmax(below > 0.1)]
        assert row["cellular_prevalence_upper"] == grid[np.argmax(below >= 0.9)]
        assert row["cluster_assignment_prob"] == pytest.approx(agreement[i], abs=1e-9)
        assert row["cluster_id"] == model.labels_[i]


def test_the_table_comes_back_with_what_was_found(table, model):
    found = prevalences(model, table)
    pd.testing.assert_frame_equal(found[table.columns], table)
    assert (found["cellular_prevalence_lower"] <= found["cellular_prevalence"] + 0.01).all()
    assert (found["cellular_prevalence_upper"] >= found["cellular_prevalence"] - 0.01).all()
    odd = found["mutation_id"].str[1:].astype(int) % 2
    a = found["sample_id"] == "a"
    expected = np.where(a, np.where(odd, 0.3, 0.9), np.where(odd, 0.7, 0.2))
    np.testing.assert_allclose(found["cellular_prevalence"], expected, atol=0.06)
    assert (found["cluster_assignment_prob"] > 0.8).all()


def test_polars_tables_come_back_as_polars(table, model):
    found = prevalences(model, pl.from_pandas(table))
    assert isinstance(found, pl.DataFrame)
    np.testing.assert_array_equal(
        found["cellular_prevalence"], prevalences(model, table)["cellular_prevalence"]
    )


def test_wrong_questions_get_one_sentence(table, model):
    with pytest.raises(ValueError, match="pass the one that the model was fitted to"):
        prevalences(model, table.iloc[2:])
    with pytest.raises(ValueError, match="level must be above 0 and below 1"):
        prevalences(model, table, level=95)
    with pytest.raises(TypeError, match="needs likelihood='pyclone'"):
        prevalences(DPMixture(n_draws=5, n_warmup=0).fit(np.eye(6)[:, :2]), table)


def test_reads_of_missing_samples_are_not_imputed(model):
    with pytest.raises(TypeError, match=r"use bnpcluster\.pyclone\.prevalences"):
        model.impute()
