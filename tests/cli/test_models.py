"""Options reach the model, or are refused."""

import pytest

from bnpcluster.cli.models import build_model
from bnpcluster.cli.options import COMMANDS
from bnpcluster.cli.results import FILES
from bnpcluster.cli.usage import parse
from tests.tools.shell import fit, refused


def test_options_reach_the_model(table):
    words = ["fit", str(table), "--out", "r", "--prior", "mfm", "--gamma", "2,0.5"]
    words += ["--n-components-prior", "poisson,1.5", "--sampler", "gibbs", "--init", "one"]
    words += ["--jobs", "2", "--max-time", "9.5", "--point-estimate", "binder", "--thin", "3"]
    model = build_model(parse([*words, "--seed", "7"], COMMANDS, ""))
    assert (
        model.get_params()
        | {
            "gamma": (2, 0.5),
            "n_components_prior": ("poisson", 1.5),
            "sampler": "gibbs",
            "init": "one",
            "n_jobs": 2,
            "max_time": 9.5,
            "point_estimate": "binder",
            "thin": 3,
            "random_state": 7,
            "verbose": 0,
        }
        == model.get_params()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sampler", "gibs"], "Did you mean 'gibbs'"),
        (["--likelihood", "pyclone"], "use bnpcluster pyclone"),
        (["--likelihood", "poisson"], "in column 'height': leave the column out with --columns"),
        (["--likelihood", "gauss"], "Unknown likelihood 'gauss'"),
        (["--prior", "dirichlet"], "Unknown prior 'dirichlet'. Available: 'dp', 'py'"),
        (["--discount", "0.5"], "--discount is not a parameter of prior 'dp'"),
        (["--alpha", "-1"], "--alpha must be positive"),
        (["--alpha", "large"], "--alpha must be a number"),
        (["--draws", "0"], "--draws must be at least 1"),
        (["--draws", "many"], "'many' is neither a whole number nor auto"),
        (["--particles", "5"], "has no particles"),
        (["--columns", "height,length"], "has no column 'length'. It has name, height, weight"),
        (["--id-column", "id"], "has no column 'id'"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--colour"], "Unknown option --colour"),
    ],
)
def test_bad_options(table, capsys, options, message):
    columns = [] if "--columns" in options else ["--columns", "height,weight"]
    status, folder = fit(table, *columns, *options)
    assert message in refused(capsys, status)
    assert not any((folder / name).exists() for name in FILES)
