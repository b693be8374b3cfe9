"""Bugs in the screening of new rows, in the choice of draws, and in the errors of predictions."""

from tests.mutants import Mutant

WEIGHTS = "likelihoods/gaussian/niw_general_weights.py"
BLOCKS = "_predict/test_screening.py::test_blocks_of_correlated_columns[5]"
DRAWS = "_predict/test_prediction_draws.py::"
LOGS = "_core/test_vectors.py::test_logarithms"
MOMENTS = "likelihoods/gaussian/niw_moments.py"
ADDED = "_core/test_loading.py::test_many_columns[5]"
JACKKNIFE = f"{DRAWS}test_errors_are_those_of_the_jackknife"

MUTANTS = [
    Mutant(
        WEIGHTS,
        "_bounds_of_slot",
        "the bound is too tight",
        "0.5 * (lik.prior[1] + m + 1.0)",
        "0.55 * (lik.prior[1] + m + 1.0)",
        BLOCKS,
    ),
    Mutant(
        "_core/vectors.py",
        "add_steps",
        "squares of a column stay for the next",
        "            z[r] = 0.0\n",
        "            pass\n",
        BLOCKS,
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "the likeliest slot is listed twice",
        "if bounds[k, r] > floor and k != likely:",
        "if bounds[k, r] > floor:",
        "_predict/test_screening.py::test_predictions_are_those_of_all_blocks[9]",
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "slots beside the likeliest are left out",
        "append_candidate(partition, 0, likely, weight), weight - slack",
        "append_candidate(partition, 0, likely, weight), weight",
        "_predict/test_screening.py::test_blocks_of_correlated_columns[9]",
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "of exact weights only the highest is listed",
        "> top - slack",
        ">= top",
        BLOCKS,
    ),
    Mutant(
        "_core/vectors.py",
        "set_logs",
        "infinity has a finite logarithm",
        "log if values[r] < math.inf else values[r]",
        "log",
        LOGS,
    ),
    Mutant(
        "_core/vectors.py",
        "set_logs",
        "the series is one term short",
        "1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0))",
        "1.0 / 17.0",
        LOGS,
    ),
    Mutant(
        "_core/vectors.py",
        "aligned",
        "arrays start anywhere",
        "-(memory.ctypes.data // memory.itemsize) % LINE",
        "0",
        "_core/test_vectors.py::test_arrays_start_at_lines_of_the_cache",
    ),
    Mutant(
        MOMENTS,
        "_add_all",
        "rows are taken from the mean of the prior",
        "step * (X[i, a] - mean[k, a])",
        "step * (X[i, a] - lik.prior_mean[a])",
        ADDED,
    ),
    Mutant(
        MOMENTS,
        "with_prior_mean",
        "the prior mean has no weight in S",
        "lik.scatter[k, a, b] += r0 * m / (r0 + m) * gap[a] * gap[b]",
        "lik.scatter[k, a, b] += 0.0",
        ADDED,
    ),
    Mutant(
        MOMENTS,
        "_add_all",
        "slots that are flat keep lost digits",
        "if size[k] > 0 and with_prior_mean(lik, k):",
        "if size[k] > 0 and with_prior_mean(lik, k) and False:",
        "_core/test_loading.py::test_flat_slots_keep_their_digits",
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "squares of a few columns are taken for those of all",
        "if lik.X.shape[1] <= LANES:",
        "if True:",
        "_predict/test_screening.py::test_blocks_of_correlated_columns[9]",
    ),
    Mutant(
        "_predict/predictive.py",
        "subset",
        "draws keep the urn weights of the first ones",
        "log_urn=fitted.log_urn[draws]",
        "log_urn=fitted.log_urn[: len(draws)]",
        f"{DRAWS}test_predictions_average_evenly_spaced_draws",
    ),
    Mutant(
        "_predict/predictive.py",
        "thinned",
        "all draws are used",
        "return subset(fitted, *label_draws.thin(weights, most))",
        "return fitted",
        f"{DRAWS}test_predictions_average_evenly_spaced_draws",
    ),
    Mutant(
        "_predict/prediction_errors.py",
        "_jackknife",
        "the error of a part, not of the whole",
        "(n - 1) / n *",
        "1 / n *",
        JACKKNIFE,
    ),
    Mutant(
        "_predict/prediction_errors.py",
        "_estimates",
        "parts of the draws count alike, whatever density they give",
        "relative = np.exp(top - _finite(top.max(axis=0)))",
        "relative = np.ones_like(top)",
        JACKKNIFE,
    ),
]
