"""Bugs of the books of a partition and of the state of a chain."""

from __future__ import annotations

from tests.mutants import Mutant

GIBBS = "samplers/test_gibbs.py::"
LAW = f"{GIBBS}test_one_update_follows_the_full_conditional"
BOOKS = f"{GIBBS}test_moves_keep_the_books[bare]"
SHORT = f"{GIBBS}test_short_kernel_calls_change_nothing"
ROOM = "likelihoods/test_all.py::test_more_room_changes_nothing[nig-0]"

BOOKKEEPING = [
    Mutant(
        "_core/partition.py",
        "log_prior is one size behind",
        "log_w[m + 1] - log_w[m]",
        "log_w[m] - log_w[m - 1]",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/partition.py",
        "the slot after a new block is not cleared",
        "clear(problem.likelihood, k + 1)",
        "clear(problem.likelihood, k)",
        ROOM,
    ),
    Mutant(
        "_core/partition.py",
        "a placed item is not counted",
        "resize(partition, problem.log_w, k, 1)",
        "resize(partition, problem.log_w, k, 0)",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "an item taken out is still counted",
        "resize(partition, problem.log_w, k, -1)",
        "resize(partition, problem.log_w, k, 0)",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "an item taken out keeps its label",
        "partition.labels[i] = -1",
        "partition.labels[i] = k",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "an emptied slot stays open",
        "if partition.sizes[k] == 0:",
        "if partition.sizes[k] < 0:",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "the target is lost when the last block moves",
        "k = own if k == n_blocks - 1 else k - 1",
        "k = k - 1",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "the last block's move is noticed one slot too late",
        "k >= n_blocks - 1:",
        "k >= n_blocks:",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "the statistics of the last block stay behind",
        "rename(problem.likelihood, k, last)",
        "clear(problem.likelihood, last)",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "the size of the last block stays behind",
        "partition.sizes[k] = partition.sizes[last]",
        "partition.sizes[k] = partition.sizes[k]",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "the prior weight of the last block stays behind",
        "= partition.log_prior[last]",
        "= partition.log_prior[k]",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "a given up slot keeps its size",
        "    partition.sizes[last] = 0\n",
        "",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "rebuild adds to the old statistics",
        "    for k in range(len(sizes)):\n",
        "    for k in range(0):\n",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/partition.py",
        "rebuild leaves the labels",
        "        labels[i] = k\n        add(",
        "        add(",
        BOOKS,
    ),
    Mutant(
        "_core/partition.py",
        "rebuild leaves the prior weights",
        "resize(partition, problem.log_w, k, 0)",
        "resize(partition, problem.log_w, 0, 0)",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/partition.py",
        "no empty slot is kept after the last block",
        "+ 2 > len(partition.sizes)",
        "+ 1 > len(partition.sizes)",
        SHORT,
    ),
    Mutant(
        "_core/partition.py",
        "the prior weights are lost when room grows",
        "    larger.log_prior[:old] = partition.log_prior[:old]\n",
        "",
        ROOM,
    ),
    Mutant(
        "_core/state.py",
        "a new table does not reach the slots",
        "if changed:",
        "if not changed:",
        f"{GIBBS}test_a_new_prior_takes_effect_at_once",
    ),
    Mutant(
        "_core/state.py",
        "retable forgets the last block",
        "    for k in range(partition.n_blocks[0]):\n        resize",
        "    for k in range(partition.n_blocks[0] - 1):\n        resize",
        f"{GIBBS}test_a_new_prior_takes_effect_at_once",
    ),
    Mutant(
        "_core/state.py",
        "a new prior leaves the old table of V",
        "_replace(log_v=log_v, log_w=log_w)",
        "_replace(log_w=log_w)",
        f"{GIBBS}test_a_new_prior_takes_effect_at_once",
    ),
    Mutant(
        "_core/state.py",
        "log_joint counts a block too few",
        "problem.log_v[n_blocks]",
        "problem.log_v[n_blocks - 1]",
        f"{LAW}[finite-tempered-bare]",
    ),
    Mutant(
        "_core/state.py",
        "log_joint looks W up by slot",
        "problem.log_w[partition.sizes[k]]",
        "problem.log_w[k]",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/state.py",
        "log_joint is not tempered",
        "total + problem.beta * log_likelihood(",
        "total + log_likelihood(",
        f"{LAW}[finite-tempered-bare]",
    ),
    Mutant(
        "_core/state.py",
        "slots are empty after they were given more room",
        "        new[tuple(slice(length) for length in old.shape)] = old\n",
        "",
        ROOM,
    ),
    Mutant(
        "_core/state.py",
        "room grows but the table of V does not",
        ", log_v=tables.log_v",
        "",
        ROOM,
    ),
    Mutant(
        "_core/state.py",
        "a sweep entered again starts its uniforms afresh",
        "uniforms[reached - start :]",
        "uniforms",
        ROOM,
    ),
    Mutant(
        "_core/state.py",
        "an item is skipped between kernel calls",
        "            start = stop\n",
        "            start = stop + 1\n",
        SHORT,
    ),
    Mutant(
        "_core/state.py",
        "chains share their slots",
        "new = np.zeros(shape, old.dtype)",
        "new = old if list(old.shape) == shape else np.zeros(shape, old.dtype)",
        "likelihoods/test_all.py::test_growing_copies_what_a_chain_owns[nig-0]",
    ),
]
