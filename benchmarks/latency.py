"""Seconds until something happens: the import, the first fit ever, the first fit of a process."""

import json
import os
import subprocess
import sys
import tempfile

IMPORTS = """
import json, time
begin = time.perf_counter()
import sklearn.base, sklearn.utils.validation, numpy, scipy
middle = time.perf_counter()
import {module}
print(json.dumps([middle - begin, time.perf_counter() - middle]))
"""
FIT = """
import json, time
import numpy as np
from bnpcluster import DPMixture
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.3, (50, {d})) for c in (-2, 0, 2)])
begin = time.perf_counter()
model = DPMixture(random_state=0).fit(X)
fit = time.perf_counter() - begin
model.score_samples(X)
print(json.dumps([fit, sum(model.sampler_stats_["seconds"]), time.perf_counter() - begin]))
"""


def measure(arguments):
    """Each in a fresh process; the first fit with an empty cache of compiled code."""
    runs = [_run(IMPORTS.format(module="bnpcluster"), {}) for _ in range(5)]
    sklearn, ours = (min(column) for column in zip(*runs, strict=True))
    numba = min(_run(IMPORTS.format(module="numba"), {})[1] for _ in range(5))
    print(
        f"import sklearn {sklearn:.2f} s, bnpcluster adds {ours:.2f} s (target 0.3), "
        f"of which importing numba alone is {numba:.2f} s",
        flush=True,
    )
    for d in (2, 4):
        with tempfile.TemporaryDirectory() as cache:
            for label in ("first fit ever", "first fit of a later process"):
                fit, sampling, total = _run(FIT.format(d=d), {"NUMBA_CACHE_DIR": cache})
                target = 15 if label.endswith("ever") else 0.5
                print(
                    f"D={d} {label}: {fit - sampling:.2f} s beyond {sampling:.2f} s of sampling "
                    f"(target {target}); with a first score_samples {total:.2f} s",
                    flush=True,
                )


def _run(script, environment):
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(printed)
