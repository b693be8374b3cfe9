"""`bnpcluster predict`: new rows, with a model that `fit --save-model` wrote."""

import numpy as np
import pandas as pd
import pytest

from bnpcluster.cli.saved_models import FIRST_LINE, load_model
from tests.tools.shell import QUICK, columns_of, fit, refused, run


@pytest.fixture
def model(table, capsys):
    fit(table, "--id-column", "name", "--save-model", *QUICK)
    capsys.readouterr()
    return table.parent / "results" / "model.joblib"


def predict(model, table, *options):
    folder = table.parent / "new"
    return run("predict", model, table, "--out", folder, *options), folder


def test_predictions_are_those_of_the_estimator(model, table, frame, capsys):
    status, folder = predict(model, table)
    assert status == 0
    fitted, X = load_model(model).model, frame[["height", "weight"]].to_numpy()
    found = columns_of(folder / "predictions.csv")
    assert list(found) == ["name", "cluster", "probability", "novelty", "outlier_score"]
    assert found["name"] == frame["name"].tolist()
    labels, shares = fitted.predict(X), fitted.predict_proba(X)
    assert list(map(int, found["cluster"])) == labels.tolist()
    own = shares[np.arange(len(X)), labels]
    np.testing.assert_allclose(np.array(found["probability"], float), own, atol=1e-5)
    np.testing.assert_allclose(np.array(found["novelty"], float), fitted.novelty(X), atol=1e-5)
    written = pd.read_csv(folder / "probabilities.csv", index_col="name").to_numpy()
    np.testing.assert_allclose(written, shares, atol=1e-5)
    out, err = capsys.readouterr()
    assert "cluster 0: 20 rows" in out
    assert err == ""


def test_the_folder_of_a_fit_names_its_model(model, table):
    assert predict(model.parent, table, "--quiet")[0] == 0


def test_columns_may_stand_in_another_order(model, table, frame):
    _, folder = predict(model, table)
    first = (folder / "predictions.csv").read_text()
    frame[["weight", "name", "height"]].to_csv(table, index=False)
    predict(model, table, "--force")
    assert (folder / "predictions.csv").read_text() == first


def test_rows_without_values_are_in_no_cluster(model, table, frame):
    frame.loc[2, ["height", "weight"]] = np.nan
    frame.to_csv(table, index=False)
    _, folder = predict(model, table)
    found = columns_of(folder / "predictions.csv")
    assert (found["cluster"][2], found["probability"][2]) == ("-1", "")
    assert found["outlier_score"][2] == ""


def test_a_column_that_lacks_is_named(model, table, frame, capsys):
    frame.rename(columns={"height": "heigth"}).to_csv(table, index=False)
    status, _ = predict(model, table)
    assert "no column 'height'. Did you mean 'heigth'?" in refused(capsys, status)


@pytest.mark.parametrize("likelihood", ["columns", "categorical"])
def test_words_have_the_codes_of_the_fit(likelihood, tmp_path, capsys):
    kinds = np.array(["Rome", "Oslo"])[np.arange(40) % 2]
    data = pd.DataFrame({f"c{j}": kinds for j in range(4)})
    data.to_csv(tmp_path / "towns.csv", index=False)
    _, folder = fit(tmp_path / "towns.csv", "--likelihood", likelihood, "--save-model", *QUICK)
    labels = columns_of(folder / "labels.csv")["cluster"]
    data.iloc[[0, 0, 2]].to_csv(tmp_path / "new.csv", index=False)  # Rome alone: the first code
    out = tmp_path / "new"
    assert run("predict", folder, tmp_path / "new.csv", "--out", out) == 0
    assert columns_of(out / "predictions.csv")["cluster"] == [labels[0]] * 3
    capsys.readouterr()
    data.iloc[:3].replace("Rome", "Bonn").to_csv(tmp_path / "new.csv", index=False)
    words = ["predict", folder, tmp_path / "new.csv", "--out", out, "--force"]
    message = refused(capsys, run(*words))
    assert "Column 'c0' contains 'Bonn', which did not occur in the fit" in message
    assert run(*words, "--missing", "Bonn") == 0


def test_a_model_of_another_version_or_damaged_is_refused(model, table, capsys):
    content = model.read_bytes()
    assert content.startswith(FIRST_LINE)
    model.write_bytes(content[: len(content) // 2])
    assert "is damaged" in refused(capsys, predict(model, table)[0])
    model.write_bytes(content.replace(b"0.1.0", b"0.0.9", 1))
    assert "was saved by bnpcluster 0.0.9" in refused(capsys, predict(model, table)[0])


def test_a_foreign_pickle_does_not_run(table, tmp_path, capsys):
    path = tmp_path / "evil.joblib"
    path.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    assert "is not a model that bnpcluster saved" in refused(capsys, predict(path, table)[0])
    assert not (tmp_path / "ran").exists()
