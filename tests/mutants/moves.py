"""Bugs of Gibbs sampling and of the operations it rests on."""

from __future__ import annotations

from tests.mutants import Mutant

GIBBS = "samplers/test_gibbs.py::"
LAW = f"{GIBBS}test_one_update_follows_the_full_conditional"
LAZY = f"{GIBBS}test_lazy_choice_is_the_full_one"
BOOKS = f"{GIBBS}test_moves_keep_the_books[bare]"
SWEEPS = f"{GIBBS}test_sweeps_keep_the_books"
SHORT = f"{GIBBS}test_short_kernel_calls_change_nothing"
ROOM = "likelihoods/test_all.py::test_more_room_changes_nothing[nig-0]"
CONTRACT = "likelihoods/test_all.py::test_contract[nig-0]"

MOVES = [
    Mutant(
        "samplers/gibbs.py",
        "u is not rescaled to the total weight",
        "above, c = u * total, 0",
        "above, c = u, 0",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the inversion is off by one",
        "        c += 1\n    if left_out",
        "        c += 2\n    if left_out",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the last candidate's share goes to the one before it",
        "while c < count - 1 and",
        "while c < count - 2 and",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the slack forgets how many slots there are",
        "math.log(n_slots * u / (1.0 - u))",
        "math.log(u / (1.0 - u))",
        f"{LAZY}[0.0-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the slack is that of 1 - u",
        "* u / (1.0 - u)",
        "* (1.0 - u) / u",
        f"{LAZY}[0.0-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "a list that lacks slots is taken for the whole",
        "if count > 1 else 0",
        "if count < 1 else 0",
        f"{LAZY}[0.0-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "what is left out after the choice is forgotten",
        "above + u * left_out >= weights[c]",
        "above >= weights[c]",
        f"{LAZY}[3.0-bernoulli]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "what is left out before the choice is forgotten",
        "above < (1.0 - u) * left_out",
        "above < 0.0",
        f"{LAZY}[3.0-bernoulli]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "what is left out weighs too little",
        "n_slots * math.exp(-slack) if",
        "n_slots * math.exp(-2.0 * slack) if",
        f"{LAZY}[3.0-bernoulli]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "left-out weights are compared with the largest weight, not the first",
        "left_out *= math.exp(weights[0] - top)",
        "left_out *= 0.01",
        f"{LAZY}[3.0-bernoulli]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "a new block is weighed as if the item's own stayed",
        "others -= int(m == 1)",
        "others -= 0",
        f"{LAW}[finite-tempered-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the prior weight of the own block counts the item",
        "log_w[m] - log_w[m - 1]",
        "kept",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "an item alone is offered its emptied block and a new one",
        "log_prior[own] = -math.inf if m == 1 else",
        "log_prior[own] = -math.inf if m == 0 else",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "the new block's weight has the wrong sign",
        "log_v[others + 1] - log_v[others]",
        "log_v[others] - log_v[others + 1]",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "log_prior of the own block is not restored",
        "log_prior[own] = kept",
        "kept = 0.0",
        SWEEPS,
    ),
    Mutant(
        "samplers/gibbs.py",
        "absent items are counted",
        "i = problem.items[j]",
        "i = j",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "samplers/gibbs.py",
        "a sweep entered again reads other uniforms",
        "uniforms[j - start]",
        "uniforms[j]",
        ROOM,
    ),
    Mutant(
        "samplers/gibbs.py",
        "the item at which room ran out is skipped",
        "return j\n",
        "return j + 1\n",
        SHORT,
    ),
    Mutant(
        "_core/operations.py",
        "fallback: an item is compared with itself",
        "scores[own] = log_predictive_without(lik, own, i)",
        "scores[own] = log_predictive(lik, own, i)",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: the reference is listed twice",
        "if k != first and weight > floor:",
        "if weight > floor:",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: no new block is offered",
        "    for k in range(empty + 1):\n        weight",
        "    for k in range(empty):\n        weight",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: slots up to the slack above the reference are left out",
        "listed(partition, count, first, weight), weight - slack",
        "listed(partition, count, first, weight), weight + slack",
        f"{LAZY}[1.0-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: the reference is not tempered",
        "log_prior[first] + beta * scores[first]",
        "log_prior[first] + scores[first]",
        f"{LAW}[finite-tempered-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: the item is not put back",
        "    value = log_predictive(lik, k, i)\n    add(lik, k, i)\n",
        "    value = log_predictive(lik, k, i)\n",
        f"{LAW}[dp-bare]",
    ),
    Mutant(
        "_core/operations.py",
        "fallback: rename leaves the old slot full",
        "    clear(lik, source)\n",
        "",
        BOOKS,
    ),
    Mutant(
        "_core/operations.py",
        "fallback: the chain rule conditions on too little",
        "        total += log_predictive(lik, k, i)\n        add(lik, k, i)\n",
        "        total += log_predictive(lik, k, i)\n",
        CONTRACT,
    ),
    Mutant(
        "_core/operations.py",
        "fallback: the likelihood lacks the last block",
        "for k in range(n_blocks):",
        "for k in range(n_blocks - 1):",
        CONTRACT,
    ),
    Mutant(
        "_core/operations.py",
        "listed_above: the reference is listed twice",
        "if bound[k] > floor and k != first:",
        "if bound[k] > floor:",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "listed_above: an item is compared with itself",
        "beta * log_predictive_without(lik, own, i)",
        "beta * log_predictive(lik, own, i)",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "listed_above: no new block is offered",
        "    for k in range(empty + 1):\n        if bound",
        "    for k in range(empty):\n        if bound",
        f"{LAW}[dp-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "listed_above: a new block is not tempered",
        "weight = log_prior[empty] + beta * log_predictive(lik, empty, i)",
        "weight = log_prior[empty] + log_predictive(lik, empty, i)",
        f"{LAW}[finite-tempered-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "listed_above: the others are not tempered",
        "log_prior[k] + beta * log_predictive(lik, k, i))",
        "log_prior[k] + log_predictive(lik, k, i))",
        f"{LAW}[finite-tempered-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "weights that matter are neglected",
        "NEGLIGIBLE = 40.0",
        "NEGLIGIBLE = 4.0",
        f"{LAZY}[1.0-niw]",
    ),
    Mutant(
        "_core/operations.py",
        "padding rounds down",
        "(n_slots + LANES - 1) // LANES",
        "n_slots // LANES",
        CONTRACT,
    ),
]
