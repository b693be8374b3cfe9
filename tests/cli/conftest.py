"""Tables that commands are tried with."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame(blobs):
    X, _ = blobs
    data = pd.DataFrame(X, columns=["height", "weight"])
    data.insert(0, "name", [f"n{i:02d}" for i in range(len(X))])
    return data


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def reads(tmp_path):
    """Read counts of 24 mutations, half of them in a fifth of the cells of sample b."""
    rng = np.random.default_rng(0)
    lines = ["mutation_id\tsample_id\tref_counts\talt_counts\tnormal_cn\tmajor_cn\tminor_cn"]
    for m in range(24):
        for sample, prevalence in {"a": 1.0, "b": 1.0 if m % 2 else 0.2}.items():
            alt = rng.binomial(200, prevalence / 2)
            lines.append(f"m{m}\t{sample}\t{200 - alt}\t{alt}\t2\t1\t1")
    (tmp_path / "reads.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path / "reads.tsv"
