"""Fits on processes of their own, and on a cluster of them: the same draws, and data sent once."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster

from bnpcluster import DPMixture
from bnpcluster._fitting import workers
from bnpcluster._fitting.stop import Stop
from bnpcluster._fitting.workers import SharedData
from bnpcluster.likelihoods import NormalInverseGamma
from bnpcluster.samplers import ARM

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = np.vstack([np.random.default_rng(c).normal(5.0 * c, 1.0, (100, 2)) for c in range(3)])
SEVERAL_ROUNDS = {"n_draws": 200, "n_warmup": 100, "random_state": 0}


@pytest.fixture(scope="module")
def client():
    """Two workers that are processes."""
    with (
        LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def on_cluster(client):
    with joblib.parallel_config("dask", client=client):
        yield


class Packed:
    """Bound data that count how often they are pickled."""

    times = 0

    def __init__(self, bound):
        self.bound = bound

    def __reduce__(self):
        Packed.times += 1
        return type(self.bound), tuple(self.bound)


@pytest.fixture
def pickled(monkeypatch):
    """How often the bound data were pickled, and how many tasks carried them or not."""
    Packed.times, counts = 0, {"full": 0, "empty": 0}
    reduce = SharedData.__reduce__

    def counted(content, **settings):
        return pickle.dumps(Packed(content), **settings)

    def told(self):
        counts["empty" if self.sent else "full"] += 1
        return reduce(self)

    counting = SimpleNamespace(**{**vars(pickle), "dumps": counted})
    monkeypatch.setattr(workers, "pickle", counting)
    monkeypatch.setattr(SharedData, "__reduce__", told)
    yield counts
    assert Packed.times == 1


def same_draws(one, other):
    assert one.posterior_.labels.dtype == other.posterior_.labels.dtype
    np.testing.assert_array_equal(one.posterior_.labels, other.posterior_.labels)
    for name, trace in one.posterior_.traces.items():
        np.testing.assert_array_equal(trace, other.posterior_.traces[name])


def test_a_cluster_changes_no_bit_and_gets_the_data_once(client, pickled, capsys):
    alone = DPMixture(**SEVERAL_ROUNDS).fit(X)
    with on_cluster(client):
        model = DPMixture(verbose=1, **SEVERAL_ROUNDS).fit(X)
    same_draws(alone, model)
    assert pickled["full"] <= 2  # one for the cluster; a worker that comes too late asks again
    assert pickled["empty"] >= 4
    assert re.search(r"1200/1200 iterations, .* 0 s left", capsys.readouterr().err)


@pytest.mark.parametrize(
    "parameters",
    [{"sampler": ARM(archive="adaptive")}, {"sampler": "urn_smc", "n_particles": 50, "alpha": 1.0}],
    ids=["arm", "urn_smc"],
)
def test_other_samplers_on_a_cluster(client, pickled, parameters):
    parameters = {"likelihood": "nig", "n_draws": 20, "n_warmup": 30, **parameters}
    alone = DPMixture(random_state=0, **parameters).fit(X[::10])
    with on_cluster(client):
        same_draws(alone, DPMixture(random_state=0, **parameters).fit(X[::10]))


def test_workers_without_the_data_get_them_and_change_no_bit(client, monkeypatch):
    alone, rounds, lost = DPMixture(**SEVERAL_ROUNDS).fit(X), [], []
    from bnpcluster._fitting.progress import Progress

    def forget():  # the worker's own store, not a copy of this one's
        from bnpcluster._fitting.workers import RECEIVED

        n_contents = len(RECEIVED)
        RECEIVED.clear()
        return n_contents

    def restart(self, chains):
        rounds.append(None)
        if len(rounds) == 2:
            lost.extend(client.run(forget).values())

    monkeypatch.setattr(Progress, "show", restart)
    with on_cluster(client):
        same_draws(alone, DPMixture(**SEVERAL_ROUNDS).fit(X))
    assert len(rounds) > 2
    assert len(lost) == 2 and max(lost) > 0


@pytest.mark.parametrize("delay", [0.0, 0.1], ids=["between rounds", "at work"])
def test_a_worker_that_is_killed_changes_no_bit(client, monkeypatch, delay):
    """Its chains are done again by others; the one that comes in its place has no data."""
    several = {**SEVERAL_ROUNDS, "n_draws": 600}
    alone, rounds, killed = DPMixture(**several).fit(X), [], []
    from bnpcluster._fitting.progress import Progress

    def kill(pid):
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)

    def show(self, chains):
        rounds.append(None)
        if len(rounds) == 2:
            (pid, *_) = client.run(os.getpid).values()
            killed.append(threading.Thread(target=kill, args=(pid,)))
            killed[0].start()
            if not delay:
                killed[0].join()

    monkeypatch.setattr(Progress, "show", show)
    with on_cluster(client):
        same_draws(alone, DPMixture(**several).fit(X))
    killed[0].join()
    assert len(rounds) > 3
    client.wait_for_workers(2, timeout=60)


def test_data_on_processes_stay_what_they_are(pickled):
    """joblib would turn arrays this large into read-only files."""
    rows = np.random.default_rng(0).normal(size=(70_000, 2))
    data = SharedData(NormalInverseGamma().bind(rows))
    with joblib.parallel_config("loky", n_jobs=2):
        kinds = joblib.Parallel()(joblib.delayed(kinds_of_arrays)(data) for _ in range(2))
    assert kinds == [{(np.ndarray, True)}] * 2


def kinds_of_arrays(data):
    """The kinds of all arrays, and whether one could write to them."""
    arrays = [part for part in data.content if isinstance(part, np.ndarray)]
    assert max(array.nbytes for array in arrays) > 10**6
    return {(type(array), array.flags.writeable) for array in arrays}


def test_shared_data_are_read_where_they_have_arrived(monkeypatch):
    received = {}
    monkeypatch.setattr(workers, "RECEIVED", received)
    data = SharedData([1.0, 2.0])
    assert sys.getsizeof(data) > sys.getsizeof(pickle.dumps([1.0, 2.0]))
    full = pickle.dumps(data)
    assert data.packed is data.packed  # made once for all tasks
    data.sent = True
    empty = pickle.dumps(data)
    assert sys.getsizeof(data) < 200 > len(empty)
    assert pickle.loads(empty).content is None
    assert pickle.loads(full).content == [1.0, 2.0]
    assert pickle.loads(empty).content is pickle.loads(full).content
    received.clear()  # pickled in full, it is sent on from worker to worker
    again = pickle.dumps(pickle.loads(full))
    received.clear()
    assert pickle.loads(again).content == [1.0, 2.0]
    for value in range(5):
        pickle.loads(pickle.dumps(SharedData([value])))
    assert list(received.values()) == [[3], [4]]


def test_time_limits_do_not_depend_on_the_clock_of_a_machine(monkeypatch):
    stop = pickle.dumps(Stop(100.0))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 10**6)
    assert 90.0 < pickle.loads(stop).deadline - time.monotonic() <= 100.0
    stop = Stop()
    assert pickle.loads(pickle.dumps(stop)).deadline is None
    assert not pickle.loads(pickle.dumps(stop))()
    stop.requested.set()
    assert pickle.loads(pickle.dumps(stop))()


INTERRUPTED = """
import sys, threading, warnings
import joblib, numpy as np
from bnpcluster import DPMixture
from bnpcluster._fitting.progress import Progress

warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(200, 2))

def show(self, chains):
    if min(chain.iteration for chain in chains) > 100:
        print("sampling", flush=True)

Progress.show = show
with joblib.parallel_config("loky", n_jobs=2):
    model = DPMixture(n_draws=10**6, n_warmup=100, n_chains=2, random_state=0).fit(X)
print(model.interrupted_, model.posterior_.n_draws > 0, len(model.labels_))
"""


def test_an_interrupt_of_all_processes_leaves_a_fitted_estimator():
    """As Ctrl-C in a terminal does."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import signal\n{ENABLE}\n{INTERRUPTED}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "sampling\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out.splitlines()[-1]) == (0, "True True 200"), err


ENABLE = "signal.signal(signal.SIGINT, signal.default_int_handler)"
