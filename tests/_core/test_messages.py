"""Sentences that carry what they are about."""

import pickle
import warnings

import pytest

from bnpcluster._core.messages import (
    GOOD_STARTS,
    MORE_DRAWS,
    MORE_PARTICLES,
    RUN_LONGER,
    Action,
    ColumnsError,
    Message,
    in_shell_words,
    more_draws,
    parameter,
    setting,
    with_columns,
)


@pytest.mark.parametrize(
    ("action", "python", "shell"),
    [
        (
            RUN_LONGER,
            "run longer with continue_fit(n_draws)",
            "run longer with more --max-draws or --draws",
        ),
        (MORE_DRAWS, "raise n_draws", "raise --draws"),
        (MORE_PARTICLES, "raise n_particles", "raise --particles"),
        (GOOD_STARTS, "init='auto'", "--init auto"),
        (setting("sampler", "pgsm"), "sampler='pgsm'", "--sampler pgsm"),
        (setting("n_chains", 4), "n_chains=4", "--chains 4"),
        (more_draws(12), "continue_fit(12)", "12 more --draws"),
        (parameter("max_time"), "max_time", "--max-time"),
        (parameter("n_warmup"), "n_warmup", "--warmup"),
    ],
)
def test_actions_have_words_for_python_and_for_the_shell(action, python, shell):
    message = Message("To do: ", action, ".")
    assert message == f"To do: {python}."
    assert message.shell == f"To do: {shell}."


def test_messages_are_made_of_messages_and_survive_pickling():
    inner = Message("raise ", Action("a", "b"))
    message = Message("Once, ", inner, "; twice, ", inner)
    assert (message, message.shell) == (
        "Once, raise a; twice, raise a",
        "Once, raise b; twice, raise b",
    )
    again = pickle.loads(pickle.dumps(message))
    assert (again, again.shell) == (message, message.shell)


def test_errors_and_warnings_keep_the_words_of_the_shell():
    message = Message("Do ", Action("this", "that"))
    assert in_shell_words(ValueError(message)) == "Do that"
    assert str(ValueError(message)) == "Do this"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(message, stacklevel=1)
    assert in_shell_words(caught[0].message) == "Do that"
    assert in_shell_words(ValueError("as it is")) == in_shell_words("as it is") == "as it is"
    assert in_shell_words(KeyboardInterrupt()) == ""


def test_columns_that_have_a_name_are_called_by_it():
    error = ColumnsError("Columns ", [0, 7], " are wrong.")
    assert str(error) == "Columns 0, 7 are wrong."
    assert str(error.renamed(["a", "b"])) == "Columns 'a', 7 are wrong."
    assert str(error.renamed([3, 4]).renamed(list("abcdefgh"))) == "Columns 'd', 'h' are wrong."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_only_errors_about_columns_are_said_again():
    with pytest.raises(ColumnsError, match="Column 'b' is wrong"), with_columns(["a", "b"]):
        raise ColumnsError("Column ", [1], " is wrong.")
    with pytest.raises(ColumnsError, match="Column 1 is wrong"), with_columns(None):
        raise ColumnsError("Column ", [1], " is wrong.")
    with pytest.raises(ValueError, match="column 1 of text"), with_columns(["a", "b"]):
        raise ValueError("column 1 of text")
