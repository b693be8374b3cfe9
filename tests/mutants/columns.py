"""Bugs of Gaussian clusters with independent columns."""

from __future__ import annotations

from tests.mutants import Mutant

CONTRACT = "likelihoods/test_registry.py::test_contract"
GAUSSIAN_TESTS = "likelihoods/gaussian/test_niw.py::"
NIG_T = f"{GAUSSIAN_TESTS}test_nig_predictive_is_a_product_of_student_ts"
NIG_GOLDEN = f"{GAUSSIAN_TESTS}test_nig_golden_numbers"
WEIGHTS = f"{GAUSSIAN_TESTS}test_weights_of_many_slots"
PRODUCTS = f"{GAUSSIAN_TESTS}test_products_over_very_many_columns_neither_overflow_nor_underflow"
SAMPLES = f"{GAUSSIAN_TESTS}test_samples_follow_the_predictive"

COLUMNS = [
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "refresh",
        "the predictive's scale lacks a factor",
        "r / (2.0 * (r + 1.0) * lik.rate[d, k])",
        "r / ((r + 1.0) * lik.rate[d, k])",
        NIG_T,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "shift",
        "the gap from the mean counts in full",
        "0.5 * sign * r / (r + sign) * gap * gap",
        "0.5 * sign * gap * gap",
        NIG_T,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "shift",
        "removal moves the mean the wrong way",
        "lik.mean[d, k] += sign * gap",
        "lik.mean[d, k] += gap",
        f"{CONTRACT}[nig-1]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "refresh",
        "the sum of log rates is kept from before",
        "    lik.log_rate[k] = total\n",
        "",
        NIG_GOLDEN,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "log_product",
        "a large product is dropped, not split",
        "        if product > HUGE:\n            total += math.log(product)\n",
        "        if product > HUGE:\n",
        PRODUCTS,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "log_product",
        "a split product is counted twice",
        "        if product > HUGE:\n            total += math.log(product)\n"
        "            product = 1.0\n",
        "        if product > HUGE:\n            total += math.log(product)\n",
        PRODUCTS,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "_log_predictive_without",
        "leave-one-out: a small product is dropped, not split",
        "        if product < 1.0 / HUGE:\n            total += math.log(product)\n",
        "        if product < 1.0 / HUGE:\n",
        PRODUCTS,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "_log_predictive_without",
        "leave-one-out: the quadratic form is not scaled back",
        "back = (r + 1.0) / (r - 1.0)",
        "back = (r + 1.0) / r",
        f"{CONTRACT}[nig-1]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "_log_predictive_without",
        "leave-one-out: a power too many",
        "(lik.half_df[k] - 1.0) * total",
        "lik.half_df[k] * total",
        f"{CONTRACT}[nig-1]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "_log_marginal",
        "the marginal's shape grows by one an item",
        "(lik.prior[1] + 0.5 * m) * lik.log_rate[k]",
        "(lik.prior[1] + m) * lik.log_rate[k]",
        NIG_GOLDEN,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "normalisers",
        "the predictive's Gamma ratio is off by a half",
        "gammaln(a + 0.5) - gammaln(a) +",
        "gammaln(a + 1.0) - gammaln(a) +",
        NIG_T,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "normalisers",
        "the marginal's kappa ratio is upside down",
        "0.5 * np.log(kappa / k)",
        "0.5 * np.log(k / kappa)",
        NIG_GOLDEN,
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "_copy",
        "a copy lacks the rates",
        "        lik.rate[d, to] = lik.rate[d, source]\n",
        "",
        f"{CONTRACT}[nig-1]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "fill_bounds",
        "bounds add to those of the last item",
        "bound[k] = 0.0",
        "bound[k] += 0.0",
        f"{CONTRACT}[nig-1]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "fill_bounds",
        "the bound lies below what it should bound",
        "(2.0 * t / (2.0 + t))",
        "t",
        f"{WEIGHTS}[likelihood2-3]",
    ),
    Mutant(
        "likelihoods/gaussian/nig_columns.py",
        "sample_columns",
        "new rows have the scale of the rate",
        "np.sqrt(bound.rate[:, k] * (kappa + 1) / (shape * kappa))",
        "bound.rate[:, k] * (kappa + 1) / (shape * kappa)",
        f"{SAMPLES}[2-likelihood1]",
    ),
]
