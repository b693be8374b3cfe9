"""Mistakes at the shell, and the replies: written from the documentation, before the replies were.

Every reply is one sentence on the standard error stream that says what to do instead, the exit
status is 2, and no file is written.
"""

import gzip
import re
import shlex

import numpy as np
import pytest

from bnpcluster.cli import main

ROWS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the mistakes are made with."""
    path = tmp_path_factory.mktemp("mistakes")
    for name, text in TEXTS.items():
        (path / name).write_text(text)
    whole = (path / "flowers.csv").read_text()
    (path / "latin.csv").write_bytes(whole.replace("plant", "pflänzchen").encode("latin-1"))
    (path / "wide.csv").write_text(whole, encoding="utf-16")
    (path / "flowers.csv.gz").write_bytes(gzip.compress(whole.encode())[:-20])
    (path / "kept").mkdir()
    (path / "kept" / "labels.csv").write_text("precious")
    return path


def table(*columns, sep=","):
    """Text of a table: every column is a name and a function of the row."""
    head = sep.join(name for name, _ in columns)
    return "\n".join([head, *(sep.join(str(f(i)) for _, f in columns) for i in range(ROWS))]) + "\n"


def size(i):
    return round(3.1 + i % 4 + i / 100, 2)


def plant(i):
    return f"p{i:02d}"


SIZES = ("height", size), ("width", lambda i: size(i + 1))
READS = "mutation_id\tsample_id\tref_counts\talt_counts\tnormal_cn\tmajor_cn\tminor_cn\n"
TEXTS = {
    "flowers.csv": table(("plant", plant), *SIZES),
    "words.csv": table(
        ("colour", lambda i: "red blue".split()[i % 2]), ("kind", lambda i: "AB"[i // 6]), *SIZES
    ),
    "marked.csv": table(*SIZES, ("depth", lambda i: size(i) if i % 5 else "?")),
    "german.csv": table(("height", lambda i: str(size(i)).replace(".", ",")), SIZES[1], sep=";"),
    "grouped.csv": table(("price", lambda i: f"1{i % 10},290"), SIZES[0], sep=";"),
    "both.csv": table(("price", lambda i: f"1.2{i % 10}0,25"), SIZES[0], sep=";"),
    "underscored.csv": table(("price", lambda i: f"{i + 1}_000"), SIZES[0]),
    "coins.csv": table(("ill", lambda i: ["True", "False"][i % 2]), *SIZES),
    "endless.csv": table(*SIZES, ("depth", lambda i: "inf" if i == 3 else size(i))),
    "edges.csv": table(("from", lambda i: i), ("to", lambda i: (i + 1) % ROWS)),
    "weighted.csv": table(
        ("from", lambda i: i), ("to", lambda i: (i + 1) % ROWS), ("weight", lambda i: 2.5)
    ),
    "twice.csv": "from,to,value\na,b,1\nb,a,0\nb,c,1\n",
    "loops.csv": "from,to\na,a\nb,b\n",
    "reads.tsv": READS + "m1\ta\t50\t50\t2\t1\t1\nm2\ta\t90\t10\t2\t1\t1\n",
    "deleted.tsv": READS + "m1\ta\t50\t50\t2\t0\t0\nm2\ta\t90\t10\t2\t0\t0\n",
    "empty.csv": "",
    "header.csv": "plant,height,width\n",
    "ragged.csv": "height,width\n1.5,2.5\n1.5\n",
    "double.csv": "height,height\n1.5,2.5\n",
    "quoted.csv": 'height,width\n"1.5,2.5\n',
    "names.csv": table(("plant", plant)),
    "sheet.xlsx": "PK",
    "sheet.ods": "PK",
    "table.json": "[]",
    "table.zip": "PK",
    "cells.h5ad": "HDF",
    "table.parquet": "PAR",
    "model.joblib": "a text",
}

MISTAKES = [
    # Commands and options.
    ("", "Name a command: compile, fit, network, predict or pyclone"),
    ("cluster flowers.csv --out r", "Unknown command 'cluster'. Available: compile, fit, network"),
    ("pyclon reads.tsv --out r", "Unknown command 'pyclon'. Did you mean pyclone[?]"),
    ("flowers.csv --out r", "'flowers.csv' is not a command: write bnpcluster fit flowers.csv"),
    ("fit flowers.csv", "--out is missing"),
    ("fit --out r", "The name of the table is missing"),
    ("fit flowers.csv edges.csv --out r", "Unexpected word 'edges.csv'"),
    ("fit flowers.csv --out", "--out needs a value"),
    ("fit flowers.csv --out --force", "--out needs a value: --out FOLDER"),
    ("fit flowers.csv --out r --colums height", "Unknown option --colums. Did you mean --columns"),
    ("fit flowers.csv --out r --n-draws 100", "Unknown option --n-draws. Did you mean --draws[?]"),
    ("fit flowers.csv --out r --n_chains 2", "Unknown option --n_chains. Did you mean --chains[?]"),
    ("fit flowers.csv --out r --random_state=1", "--random_state. Did you mean --seed[?]"),
    ("fit flowers.csv --out r --xy 5", "Unknown option --xy; see"),
    ("fit flowers.csv --out r --draw 5", "Unknown option --draw. Did you mean --draws[?]"),
    ("fit flowers.csv --out r --draws many", "'many' is neither a whole number nor auto"),
    ("fit flowers.csv --out r --draws 0", "--draws must be at least 1, got 0"),
    ("fit flowers.csv --out r --draws -5", "--draws must be at least 1, got -5"),
    ("fit flowers.csv --out r --draws 1e3", "--draws: '1e3' is neither .*: write 1000"),
    ("fit flowers.csv --out r --draws 99999999999999999999", "--draws must be at most 1,000,000,"),
    ("fit flowers.csv --out r --warmup -1", "--warmup must be at least 0, got -1"),
    ("fit flowers.csv --out r --chains two", "--chains: 'two' is not a whole number"),
    ("fit flowers.csv --out r --jobs 0", "--jobs must be at least 1, or -1 for all processors"),
    ("fit flowers.csv --out r --seed -1", "--seed must be at least 0, got -1"),
    ("fit flowers.csv --out r --max-time 0", "--max-time must be a positive number, got 0"),
    (
        f"fit flowers.csv --out r --max-time {'9' * 400}",
        "--max-time must be a positive number, got 99",
    ),
    ("fit flowers.csv --out r --max-time nan", "--max-time must be a positive number, got nan"),
    ("fit flowers.csv --out r --likelihood gaussian", "likelihood 'gaussian'. Did you mean 'niw'"),
    ("fit reads.tsv --out r --likelihood pyclone", "use bnpcluster pyclone"),
    ("fit flowers.csv --out r --likelihood poisson --columns height", "column 'height'"),
    ("fit flowers.csv --out r --prior dirichlet", "prior 'dirichlet'. Available: 'dp', 'py'"),
    ("fit flowers.csv --out r --sampler gibs", "Unknown sampler 'gibs'. Did you mean 'gibbs'[?]"),
    ("fit flowers.csv --out r --init ones", "Unknown init 'ones'. Did you mean 'one'[?]"),
    ("fit flowers.csv --out r --discount 0.5", "--discount is not a parameter of prior 'dp', but "),
    ("fit flowers.csv --out r --columns height --alpha -1", "--alpha must be positive"),
    (
        "fit flowers.csv --out r --columns height --alpha 1,2,3",
        "--alpha must be a number .fixed. or two positive numbers shape, rate, from .* or auto; got"
        " 1,2,3[.]",
    ),
    ("fit flowers.csv --out r --columns height --alpha big", "or auto; got big[.]"),
    (
        "fit flowers.csv --out r --columns height --prior py --discount 2",
        "--discount must be 0, or from 1e-08 to 0.99999; got 2",
    ),
    (
        "fit flowers.csv --out r --columns height --prior py --alpha -1",
        "--alpha must be greater than",
    ),
    (
        "fit flowers.csv --out r --columns height --prior mfm --n-components-prior flat",
        "--n-components-prior must be .* such as poisson,1.0, or .* got flat[.]",
    ),
    (
        "fit flowers.csv --out r --columns height --prior finite --n-components 2.5",
        "--n-components must be a positive integer",
    ),
    (
        "fit flowers.csv --out r --columns height --sampler urn_smc --alpha 1,2",
        "UrnSMC needs a fixed --alpha, not the hyper-prior 1,2: give a number",
    ),
    (
        "fit flowers.csv --out r --columns height --likelihood poisson",
        "found 3.1 in column 'height': leave .* --columns, use --likelihood nig for measurements,",
    ),
    (
        "fit flowers.csv --out r --columns height --likelihood bernoulli",
        "found 3.1 in column 'height': threshold it, leave .* use --likelihood categorical for",
    ),
    ("fit flowers.csv --out r --particles 100", "'split_merge' has no particles: leave out --part"),
    (
        "fit flowers.csv --out r --merge 2",
        "--merge must be auto, or a number above 0 and below 1, got 2",
    ),
    ("fit flowers.csv --out r --hyper scale", "--hyper scale: write NAME=VALUE"),
    ("fit flowers.csv --out r --hyper scal=1 --likelihood nig", "Did you mean 'scale'[?]"),
    # Names of columns.
    ("fit flowers.csv --out r --columns heigth", "no column 'heigth'. Did you mean 'height'[?]"),
    ("fit flowers.csv --out r --columns 'height width'", "separate the names by commas"),
    ("fit flowers.csv --out r --columns height,", "--columns has an empty name"),
    ("fit flowers.csv --out r --columns height,height", "--columns names 'height' twice"),
    ("fit flowers.csv --out r --id-column id", "flowers.csv has no column 'id'. It has plant,"),
    ("fit flowers.csv --out r --id-column plant --columns plant", "both the --id-column and one "),
    # Files.
    ("fit nowhere.csv --out r", "nowhere.csv: No such file or directory"),
    ("fit flower.csv --out r", "flower.csv: No such file.* Did you mean flowers.csv[?]"),
    (
        "fit flowers.csv --out r --columns height --point-estimate mean",
        "Unknown point_estimate 'mean'. Available: .* that belong together like this: vi,1.5[.]",
    ),
    (
        "fit flowers.csv --out r --columns height --point-estimate vi,1,2",
        "Unknown point_estimate 'vi,1,2'. Available: 'vi'",
    ),
    (
        "fit flowers.csv --out r --columns height --point-estimate vi,3",
        "The cost in --point-estimate must be a number above 0 and below 2, got 3",
    ),
    (
        "fit flowers.csv --out r --columns height --sampler urn_smc --checkpoint c",
        "UrnSMC makes one pass and keeps no checkpoints: leave out --checkpoint",
    ),
    (
        "fit https://host/flowers.csv --out r",
        "https://host/flowers.csv is a web address: download it first, and give the file[.]",
    ),
    ("predict s3://host/model.joblib flowers.csv --out r", "s3://host/model.joblib is a web addr"),
    ("fit kept --out r", "kept is a folder, not a table"),
    ("fit sheet.xlsx --out r", "sheet.xlsx is a workbook of Excel: save the sheet as CSV"),
    ("fit sheet.ods --out r", "sheet.ods is a workbook of LibreOffice: save the sheet as CSV"),
    ("fit table.json --out r", "format of table.json is unknown: its name must end in .csv"),
    ("fit table.zip --out r", "table.zip is an archive: unpack it first"),
    ("fit table.parquet --out r", "table.parquet is not a Parquet file"),
    ("fit flowers.csv.gz --out r", "flowers.csv.gz is damaged, or not compressed by gzip"),
    ("fit empty.csv --out r", "empty.csv is empty"),
    ("fit header.csv --out r", "header.csv has names of columns, but no rows"),
    ("fit ragged.csv --out r", "Line 3 of ragged.csv has 1 cell, but there are 2 columns"),
    ("fit double.csv --out r", "double.csv has several columns named 'height'"),
    ("fit quoted.csv --out r", "quoted.csv is not a table of text"),
    ("fit latin.csv --out r", "latin.csv is not text in UTF-8: save it as UTF-8"),
    ("fit wide.csv --out r", "wide.csv is text in UTF-16: save it as UTF-8"),
    ("fit names.csv --out r", "names.csv has no column to cluster by"),
    ("fit flowers.csv --out kept", "kept already contains labels.csv: .* --force"),
    ("fit flowers.csv --out edges.csv", "--out must name a folder, but edges.csv is a file"),
    # Cells.
    (
        "fit words.csv --out r",
        "Columns 'colour' .'red' in row 1., 'kind' .'A' in row 1. contain te",
    ),
    ("fit german.csv --out r", "'height' .* commas .'3,1' in row 1.: add --decimal , if .* --thou"),
    ("fit grouped.csv --out r", "'price' .* commas .'10,290' in row 1.: .* --thousands , if"),
    ("fit both.csv --out r", "'price' .*'1.200,25' in row 1.: add --thousands . --decimal ,"),
    ("fit grouped.csv --out r --decimal , --thousands ,", "--decimal and --thousands are both ','"),
    ("fit german.csv --out r --thousands ,", "'3,1' in row 1.*not groups of three digits"),
    ("fit underscored.csv --out r", "Column 'price' contains text .'1_000' in row 1."),
    ("fit coins.csv --out r", "write 1 and 0, or use --likelihood columns"),
    ("fit marked.csv --out r", "'depth' .*'[?]' in 3 rows.*add --missing '[?]'"),
    ("fit marked.csv --out r --missing", "--missing needs a value"),
    ("fit endless.csv --out r", "infinity in column 'depth', row 4"),
    ("fit flowers.csv --out r --sep ab", "--sep must be one character, or comma, semicolon, tab"),
    ("fit flowers.csv --out r --sep ;", "no ';' in the first line of flowers.csv: leave out --sep"),
    ("fit flowers.csv --out r --sep , --decimal ,", "--sep and --decimal are both ','"),
    # Another kind of table.
    ("fit edges.csv --out r", "looks like a list of links .* bnpcluster network edges.csv"),
    ("fit reads.tsv --out r", "looks like a table of read counts.* bnpcluster pyclone reads.tsv"),
    ("pyclone flowers.csv --out r", "no column 'mutation_id'"),
    ("pyclone deleted.tsv --out r", "No row is left"),
    ("network flowers.csv --out r", "flowers.csv .* names no two ends of links"),
    ("network weighted.csv --out r", "'weight' must contain only 0 and 1.* --threshold"),
    ("network twice.csv --out r", "link 'b' - 'a' is given twice, with different values"),
    ("network loops.csv --out r", "loops.csv has no links between different vertices"),
    # Prediction.
    ("predict flowers.csv --out r", "The name of the table is missing"),
    ("predict flowers.csv flowers.csv --out r", "flowers.csv is not a model that bnpcluster saved"),
    ("predict model.joblib flowers.csv --out r", "model.joblib is not a model that bnpcluster"),
    ("predict kept flowers.csv --out r", "kept has no file model.joblib: fit with --save-model"),
    ("predict nowhere flowers.csv --out r", "nowhere: No such file or directory"),
]


@pytest.mark.parametrize(("command", "reply"), MISTAKES, ids=[c or "nothing" for c, _ in MISTAKES])
def test_a_mistake_has_one_sentence_for_an_answer(command, reply, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    try:
        status = main(shlex.split(command))
    except SystemExit as leaving:
        status = leaving.code
    out, err = capsys.readouterr()
    assert status == 2, err
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert re.search(reply, err), err
    assert "Traceback" not in err
    for python in ("n_draws", "n_chains", "n_particles", "random_state", "None", "True,"):
        assert python not in err.replace(command.split(" --")[-1].split(" ")[0].split("=")[0], "")
    assert sorted(folder.rglob("*")) == before


def test_there_are_enough_of_them():
    assert len({command for command, _ in MISTAKES}) >= 80
    assert np.unique([reply for _, reply in MISTAKES]).size >= 70
