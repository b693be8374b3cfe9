"""Bugs of particle Gibbs moves."""

from __future__ import annotations

from tests.mutants import Mutant

EXACT = "samplers/split_merge/exact_pgsm.py::"
GOLDEN = f"{EXACT}test_golden_transition_probabilities"
RESAMPLED = f"{EXACT}test_resampled_particles_are_in_detailed_balance"
THREE = f"{EXACT}test_three_anchors_are_in_detailed_balance"
CASE = f"{EXACT}test_moves_are_in_detailed_balance"
BOOKS = "samplers/split_merge/test_pgsm.py::test_moves_keep_the_books"
BINOMIAL = (
    "samplers/split_merge/test_pgsm.py::test_the_number_of_particles_that_take_a_choice_is_binomial"
)
STATE = "samplers/split_merge/conditional_smc.py"
MOVE = "samplers/split_merge/pgsm.py"

PARTICLES = [
    Mutant(
        "samplers/split_merge/conditional_smc.py",
        "place_item",
        "basic targets count V of the anchors again and again",
        "before = -log_v[n_blocks + n_others]",
        "before = 0.0",
        f"{CASE}[basic-targets-three-anchors] {CASE}[basic-targets-two-blocks-at-most]",
    ),
    Mutant(
        "samplers/split_merge/conditional_smc.py",
        "place_item",
        "basic targets get a share of the anchors' target, too",
        "if t >= n_anchors and not basic else 0.0",
        "if t >= n_anchors else 0.0",
        f"{GOLDEN}[basic-2] {CASE}[basic-targets]",
    ),
    Mutant(
        "samplers/split_merge/conditional_smc.py",
        "place_item",
        "basic targets are 1 until the anchors are placed",
        "if basic or t >= n_anchors or t == n - 1:",
        "if t >= n_anchors or t == n - 1:",
        f"{GOLDEN}[basic-2]",
    ),
    Mutant(
        STATE,
        "place_item",
        "the targets forget the anchors",
        "swarm.log_weight[s] += share * swarm.log_gamma[s] + top",
        "swarm.log_weight[s] += top",
        GOLDEN,
    ),
    Mutant(
        STATE,
        "place_item",
        "the weight is that of the best choice alone",
        "        if n_choices > 1:\n            swarm.log_weight[s] += math.log(total)\n",
        "",
        GOLDEN,
    ),
    Mutant(
        STATE,
        "pick_group",
        "particle 1 is not counted at the end",
        "        total += math.exp(swarm.log_weight[s]) * "
        "(swarm.free[s] + int(s == swarm.numbers[FIRST]))",
        "        total += math.exp(swarm.log_weight[s]) * swarm.free[s]",
        GOLDEN,
    ),
    Mutant(
        STATE,
        "place_item",
        "particle 1 is free to choose",
        "choice = forced if s == swarm.numbers[FIRST] else -1",
        "choice = -1",
        f"{GOLDEN} {BOOKS}",
    ),
    Mutant(
        STATE,
        "place_item",
        "the last target is 1 where the blocks hold nothing but the anchors",
        "if basic or t >= n_anchors or t == n - 1:",
        "if basic or t >= n_anchors:",
        f"{CASE}[as-many-anchors-as-items]",
    ),
    Mutant(
        STATE,
        "place_item",
        "the blocks of others are not counted in V",
        "v = log_v[max(n_blocks, c + 1) + n_others]",
        "v = log_v[max(n_blocks, c + 1)]",
        THREE,
    ),
    Mutant(
        STATE,
        "end_anchors",
        "log gamma forgets V",
        "swarm.log_gamma[s] = value + problem.log_v[swarm.n_blocks[s] + n_others]",
        "swarm.log_gamma[s] = value",
        THREE,
    ),
    Mutant(
        STATE,
        "resample_groups",
        "weights live on after resampling",
        "        swarm.log_weight[s] = 0.0\n        if swarm.drawn",
        "        if swarm.drawn",
        RESAMPLED,
    ),
    Mutant(
        STATE,
        "resample_groups",
        "particle 1 is drawn anew, too",
        "for _ in range(len(swarm.free) - 1):\n        swarm.drawn",
        "for _ in range(len(swarm.free)):\n        swarm.drawn",
        RESAMPLED,
    ),
    Mutant(
        STATE,
        "resample_groups",
        "the group of particle 1 may die out",
        "if swarm.drawn[s] > 0 or s == swarm.numbers[FIRST]:",
        "if swarm.drawn[s] > 0:",
        RESAMPLED,
    ),
    Mutant(
        STATE,
        "divide_group",
        "a divided group shares its blocks",
        "                copy(lik, base + to * n_anchors + b, base + s * n_anchors + b)\n",
        "",
        f"{GOLDEN} {RESAMPLED}",
    ),
    Mutant(
        STATE,
        "divide_group",
        "a divided group forgets its sizes",
        "                sizes[base + to * n_anchors + b] = sizes[base + s * n_anchors + b]\n",
        "",
        f"{GOLDEN} {RESAMPLED}",
    ),
    Mutant(
        STATE,
        "divide_group",
        "a new group weighs nothing of its own",
        "            swarm.log_weight[to] = swarm.log_weight[s]\n",
        "",
        f"{GOLDEN} {RESAMPLED}",
    ),
    Mutant(
        STATE,
        "divide_group",
        "what is left is not rescaled",
        "        total = max(total - swarm.chance[c], 1e-300)\n",
        "",
        THREE,
    ),
    Mutant(
        STATE,
        "binomial",
        "frequent choices are drawn as rare ones",
        "return successes if rare == p else n - successes",
        "return successes",
        BINOMIAL,
    ),
    Mutant(
        STATE,
        "binomial",
        "many particles are drawn in one part",
        "m = min(n - done, 500)",
        "m = min(n - done, 500)\n        done = n",
        BINOMIAL,
    ),
    Mutant(
        MOVE,
        "particle_moves",
        "informed anchors are not corrected for",
        "accepted = log_u < ratio",
        "accepted = log_u <= 0.0 * ratio",
        f"{CASE}[cluster-informed-anchors]",
    ),
    Mutant(
        MOVE,
        "particle_moves",
        "sizes of proposed blocks stay behind",
        "        for k in range(base, base + n_slots):\n            sizes[k] = 0\n",
        "",
        BOOKS,
    ),
    Mutant(
        MOVE,
        "particle_moves",
        "labels of a rejected proposal stay",
        "                    labels[items[t]] = swarm.before[t]\n",
        "                    pass\n",
        f"{CASE}[cluster-informed-anchors]",
    ),
    Mutant(
        MOVE,
        "apply_proposal",
        "blocks that are gone are not closed",
        "        close_slot(problem, partition, old[b])\n",
        "",
        f"{GOLDEN} {BOOKS}",
    ),
]
