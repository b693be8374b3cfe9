"""Bugs in the screening of new rows, in the choice of draws, and in the errors of predictions."""

from tests.mutants import Mutant

WEIGHTS = "likelihoods/gaussian/niw_general_weights.py"
BLOCKS = "_predict/test_screening.py::test_blocks_of_correlated_columns[5]"
DRAWS = "_predict/test_prediction_draws.py::"
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
        WEIGHTS,
        "_squares_in_slot",
        "squares of a column stay for the next",
        "        z[:] = 0.0\n",
        "",
        BLOCKS,
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "the likeliest slot is listed twice",
        "if bounds[k, r] > floor and k != likely:",
        "if bounds[k, r] > floor:",
        "_predict/test_screening.py::test_predictions_are_those_of_all_blocks[5]",
    ),
    Mutant(
        WEIGHTS,
        "_log_weights_of_row",
        "slots beside the likeliest are left out",
        "append_candidate(partition, 0, likely, weight), weight - slack",
        "append_candidate(partition, 0, likely, weight), weight",
        BLOCKS,
    ),
    Mutant(
        WEIGHTS,
        "_screened_weight",
        "squares of a few columns are taken for those of all",
        "if lik.X.shape[1] > LANES:",
        "if lik.X.shape[1] < LANES:",
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
