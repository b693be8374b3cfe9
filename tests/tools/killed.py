"""Fits that are killed and resume: `python -m tests.tools.killed SAMPLER` tells how they end.

One process imports and compiles; every fit is a fork of it, so that a death costs milliseconds.
"""

import contextlib
import json
import mmap
import os
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from bnpcluster import DPMixture, PitmanYorMixture
from bnpcluster._core.jit import DISABLED
from bnpcluster._fitting import checkpoint
from bnpcluster._fitting.checkpoint import digest_of_code
from bnpcluster.samplers import ARM
from tests.conftest import three_blobs

KILLS = 20
AIMED = 10  # further ones, that hit while the checkpoint is written
SEEN = 3  # fits that must have been killed while they saved, and resumed, at least
MOST = 150  # kills: on a busy machine chance alone may want more of them
LENGTH = {"n_draws": 60, "n_warmup": 100} if DISABLED else {"n_draws": 800, "n_warmup": 200}
LONG = {"n_chains": 2, "random_state": 0, **LENGTH}
FEWER = {**LONG, "n_draws": LENGTH["n_draws"] // 4}  # chains that meet every ten iterations
FITS = {
    "split_merge": (DPMixture(**LONG), three_blobs()[0]),
    "gibbs": (PitmanYorMixture(sampler="gibbs", thin=3, n_jobs=2, **LONG), three_blobs()[0]),
    "arm": (
        DPMixture(sampler=ARM(archive="adaptive"), likelihood="nig", **FEWER),
        three_blobs()[0],
    ),
}


class Killed:
    """A fit that is killed, time and again, and goes on from its checkpoint."""

    def __init__(self, name, folder):
        self.model, self.X = FITS[name]
        self.folder, self.rng = Path(folder), np.random.default_rng()
        self.shared = mmap.mmap(-1, 1)  # set while a fork saves
        self.model.fit(self.X)  # compiles, which is not to be waited for at every death
        begin = time.perf_counter()
        self.whole = self.model.fit(self.X)
        self.seconds = time.perf_counter() - begin
        # Digests of sources are remembered by the process, and so by its forks.
        record = self.whole._fitted
        digest_of_code(record.bound, (record.likelihood, record.prior, record.sampler))
        self.model = type(self.model)(
            **{**self.model.get_params(deep=False), "checkpoint": self.folder}
        )

    def killed(self, aimed):
        """Fork a fit, and kill it at a random moment; whether it died, and while it saved."""
        self.shared[0] = 0
        child = os.fork()
        if child == 0:
            self.model.fit(self.X)
            os._exit(0)
        if aimed:
            while not self.shared[0] and not os.waitid(os.P_PID, child, os.WEXITED | LOOK):
                time.sleep(1e-5)
            time.sleep(self.rng.uniform(0.0, 1e-3))
        else:
            time.sleep(self.rng.uniform(0.0, self.seconds / 2))
        os.kill(child, signal.SIGKILL)
        died = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        return died, died and bool(self.shared[0])

    def finished(self):
        """Finish the fit, compare it with the one that nothing stopped, and begin another one."""
        self.model.fit(self.X)
        found, whole = self.model.posterior_, self.whole.posterior_
        assert found.labels.dtype == whole.labels.dtype
        np.testing.assert_array_equal(found.labels, whole.labels)
        assert set(found.traces) == set(whole.traces) >= {"log_posterior", "n_clusters"}
        for name, trace in whole.traces.items():
            np.testing.assert_array_equal(found.traces[name], trace)
        np.testing.assert_array_equal(self.model.labels_, self.whole.labels_)
        for name, counts in self.whole.sampler_stats_.items():
            assert name == "seconds" or counts == self.model.sampler_stats_[name]
        (file,) = self.folder.iterdir()  # nothing that the dead wrote in part is left
        file.unlink()

    def progress(self):
        """How many iterations are saved; a file that cannot be read is an error."""
        files = list(self.folder.glob("*.npz"))
        if not files:
            return 0
        (file,) = files
        with np.load(file) as saved:
            return sum(json.loads(str(saved[f"meta_{c}"]))["iteration"] for c in range(2))

    def all(self):
        """Kill so many fits, and more until some were killed while they saved, and some resumed."""
        deaths, saving, resumed, fits = 0, 0, 0, 0
        while deaths < KILLS + AIMED or (min(saving, resumed) < SEEN and deaths < MOST):
            before = self.progress()
            aimed = KILLS <= deaths < KILLS + AIMED or (deaths >= KILLS and saving < SEEN)
            died, saved = self.killed(aimed)
            after = self.progress()
            assert after >= before
            deaths, saving, resumed = deaths + died, saving + saved, resumed + (0 < before < after)
            if not died:
                fits += 1
                self.finished()
        self.finished()
        return {"deaths": deaths, "saving": saving, "resumed": resumed, "fits": fits + 1}


LOOK = os.WNOHANG | os.WNOWAIT  # whether a process has ended, leaving it to be waited for


def told(shared, replace):
    """`Checkpoint.replace` that says when it is at work."""

    def replace_and_tell(self, chains):
        shared[0] = 1
        replace(self, chains)
        shared[0] = 0

    return replace_and_tell


def main(name):
    """Kill the fits of one kind, and print what happened."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        fit = Killed(name, folder)
        checkpoint.EVERY = 0.0  # save after every round
        checkpoint.Checkpoint.replace = told(fit.shared, checkpoint.Checkpoint.replace)
        print(json.dumps(fit.all()))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1])
