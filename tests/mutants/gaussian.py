"""Bugs of Gaussian clusters with full covariance matrices."""

from __future__ import annotations

from tests.mutants import Mutant

LAW = "samplers/test_gibbs.py::test_one_update_follows_the_full_conditional"
LAZY = "samplers/test_gibbs.py::test_lazy_choice_is_the_full_one"
CONTRACT = "likelihoods/test_all.py::test_contract"
GAUSSIAN_TESTS = "likelihoods/test_gaussian.py::"
NIW_T = f"{GAUSSIAN_TESTS}test_niw_predictive_is_a_student_t"
NIW_GOLDEN = f"{GAUSSIAN_TESTS}test_niw_golden_numbers"
WEIGHTS = f"{GAUSSIAN_TESTS}test_weights_of_many_slots"
UNITS = f"{GAUSSIAN_TESTS}test_units_shift_the_log_density_by_the_jacobian"
SAMPLES = f"{GAUSSIAN_TESTS}test_samples_follow_the_predictive"

GAUSSIAN = [
    Mutant(
        "likelihoods/_niw_planar.py",
        "the covariance enters with the wrong sign",
        "-2.0 * lik.s01[k] * scale",
        "2.0 * lik.s01[k] * scale",
        f"{NIW_T}[2]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the predictive has the log-determinant of before",
        "    lik.log_det[k] = math.log(det)\n"
        "    lik.const[k] = lik.norm_predictive[m] - 0.5 * lik.log_det[k]\n",
        "    lik.const[k] = lik.norm_predictive[m] - 0.5 * lik.log_det[k]\n"
        "    lik.log_det[k] = math.log(det)\n",
        f"{CONTRACT}[niw-1]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the predictive's normaliser is off by one size",
        "lik.const[k] = lik.norm_predictive[m]",
        "lik.const[k] = lik.norm_predictive[m + 1]",
        f"{NIW_T}[2]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the predictive has half a degree of freedom too few",
        "0.5 * (lik.prior[1] + m + 1.0)",
        "0.5 * (lik.prior[1] + m)",
        f"{NIW_T}[2]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "removal shrinks S by the factor of addition",
        "w = sign * r / (r + sign)",
        "w = sign * r / (r + 1.0)",
        f"{CONTRACT}[niw-1]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "removal moves the mean the wrong way",
        "lik.mean1[k] += sign * b",
        "lik.mean1[k] += b",
        f"{CONTRACT}[niw-1]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "leave-one-out: the quadratic form is not scaled back",
        "(r + 1.0) / (r - 1.0)",
        "r / (r - 1.0)",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "leave-one-out: the normaliser counts the item",
        "lik.norm_predictive[m - 1]",
        "lik.norm_predictive[m]",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "leave-one-out: half a power too many",
        "(lik.half_df[k] - 1.0)",
        "(lik.half_df[k] - 0.5)",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the marginal has the prior's degrees of freedom",
        "0.5 * (lik.prior[1] + m) * lik.log_det[k]",
        "0.5 * lik.prior[1] * lik.log_det[k]",
        NIW_GOLDEN,
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "a copy lacks the covariance",
        "lik.s00[source], lik.s01[source],",
        "lik.s00[source], lik.s01[to],",
        f"{CONTRACT}[niw-1]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "a copy keeps its predictive",
        "    refresh(lik, to)\n",
        "",
        f"{CONTRACT}[niw-1]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the bound lies below what it should bound",
        "(2.0 * t / (2.0 + t))",
        "t",
        f"{LAZY}[1.0-niw]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the bound is not tempered",
        "bound[k] = log_prior[k] + beta * (",
        "bound[k] = log_prior[k] + (",
        f"{LAZY}[0.3-niw]",
    ),
    Mutant(
        "likelihoods/_niw_planar.py",
        "the bound is not taken of the empty slot",
        "padded(partition.n_blocks[0] + 1)",
        "padded(partition.n_blocks[0])",
        f"{WEIGHTS}[likelihood0-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "removal scales the step by the factor of addition",
        "math.sqrt(r / (r + sign))",
        "math.sqrt(r / (r + 1.0))",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "the log-determinant is that of the factor",
        "changed\n    lik.log_det[k] = 2.0 * half_log_det",
        "changed\n    lik.log_det[k] = half_log_det",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "the log-determinant of before is kept",
        "changed\n    lik.log_det[k] = 2.0 * half_log_det",
        "changed\n",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "the inverse diagonal is one update behind",
        "lik.inv_diag[k, a] = 1.0 / new",
        "lik.inv_diag[k, a] = 1.0 / pivot",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "the rotation has a wrong sign",
        "c * v[b] - s * changed",
        "c * v[b] + s * changed",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a downdate rotates like an update",
        "lik.chol[k, b, a] + sign * s * v[b]",
        "lik.chol[k, b, a] + s * v[b]",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "leave-one-out: the quadratic form is scaled forward",
        "quadratic(lik, k, i) * r / (r - 1.0)",
        "quadratic(lik, k, i) * r / (r + 1.0)",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "leave-one-out: half a power too many",
        "0.5 * (lik.prior[1] + m - 1.0)",
        "0.5 * (lik.prior[1] + m)",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a solve in parts forgets the first part",
        "total += squared(",
        "total = squared(",
        f"{GAUSSIAN_TESTS}test_contract_in_many_columns",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a solve in parts counts the first part twice",
        "start, stop = stop, min(2 * stop, d)",
        "start, stop = 0, min(2 * stop, d)",
        f"{GAUSSIAN_TESTS}test_contract_in_many_columns",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "slots are left out before they are seen to be low",
        "if weight < floor:",
        "if weight < floor + 3.0:",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a new block is offered only to items that have none",
        "if first != empty and fresh > floor:",
        "if first == empty and fresh > floor:",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a new block is not tempered",
        "fresh = log_prior[empty] + beta * lik.log_empty[i]",
        "fresh = log_prior[empty] + lik.log_empty[i]",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "new rows have no predictive in an empty slot",
        "    fill_empty(spare, 0)\n",
        "",
        "test_prediction.py::test_exact_for_every_likelihood[niw-2]",
    ),
    Mutant(
        "likelihoods/_niw_general.py",
        "a copy keeps its log-determinant",
        "    lik.log_det[to] = lik.log_det[source]\n",
        "",
        f"{CONTRACT}[niw-2]",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the predictive's Gamma ratio is off by a half",
        "gammaln((nu_m + 1 - d) / 2)",
        "gammaln((nu_m - d) / 2)",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the predictive is that of the mean",
        "np.log(r / ((r + 1) * np.pi))",
        "np.log(r / np.pi)",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the marginal has the log-determinant of the prior to the wrong power",
        "0.5 * nu * np.linalg.slogdet",
        "0.5 * d * np.linalg.slogdet",
        f"{CONTRACT}[niw-3]",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the predictive forgets the units",
        "np.pi)) - log_unit",
        "np.pi))",
        UNITS,
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the marginal has 2 pi for pi",
        "0.5 * d * np.log(np.pi) + log_unit",
        "0.5 * d * np.log(2 * np.pi) + log_unit",
        NIW_GOLDEN,
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "the marginal forgets the units",
        "np.log(np.pi) + log_unit",
        "np.log(np.pi)",
        UNITS,
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "a given scale matrix is changed into the wrong units",
        "np.outer(unit.scale, unit.scale)",
        "unit.scale",
        NIW_GOLDEN,
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "a given mean is centred but not scaled",
        "- unit.centre) / unit.scale",
        "- unit.centre)",
        f"{NIW_T}[3]",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "one column has all degrees of freedom as its shape",
        "kappa, nu / 2, np.diag(scale) / 2",
        "kappa, nu, np.diag(scale) / 2",
        f"{GAUSSIAN_TESTS}test_one_column_is_normal_inverse_gamma",
    ),
    Mutant(
        "likelihoods/normal_inverse_wishart.py",
        "new rows scatter like their mean",
        "np.sqrt((r + 1) / (r * rng.chisquare(df)))",
        "np.sqrt(1 / (r * rng.chisquare(df)))",
        f"{SAMPLES}[2-likelihood0]",
    ),
]
