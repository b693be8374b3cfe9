"""Bugs of chains whose rows are elsewhere."""

from __future__ import annotations

from tests.mutants import Mutant

FILE = "samplers/blocked/test_elsewhere.py::"
EXACT = f"{FILE}test_every_prior_and_any_number_of_rows_to_scan"
ALL_SCANNED, FEW_SCANNED = f"{EXACT}[5-prior0]", f"{EXACT}[0.5-prior0]"
WEIGHTS = f"{FILE}test_weights_follow_the_sizes_less_sigma"
BOOKS = f"{FILE}test_statistics_are_those_of_the_labels_and_leaders_stay"
ORDER = f"{FILE}test_labels_do_not_depend_on_the_order_in_a_chunk"
CLOSED = f"{FILE}test_blocks_without_rows_are_closed_and_moves_wait_for_the_next_message"
ANCHORS = f"{FILE}test_anchors_are_two_different_random_rows_of_each_block"
ASKED = f"{FILE}test_if_too_few_rows_come_back_more_are_asked_for"
LAUNCH = f"{FILE}test_a_launch_is_a_function_of_the_union"
DECISIONS = f"{FILE}test_decisions_know_what_the_passes_found"
LEADERS = f"{FILE}test_leaders_are_the_first_rows_in_the_next_order"
BEYOND = f"{FILE}test_normalisers_beyond_the_table_continue_it"
FITS = "_fitting/test_chains_elsewhere.py::"
PREDICTS = f"{FITS}test_draws_predict_as_if_all_rows_were_here[niw]"
THREADS = f"{FITS}test_draws_do_not_depend_on_threads_and_a_forgotten_pass"
RESUMES = f"{FITS}test_a_fit_resumes_from_its_checkpoint"
VALUES = f"{FITS}test_values_of_a_checkpoint_are_checked"
MANY = f"{FITS}test_many_rows_start_from_some"
DASK = "_estimators/test_dask_collections.py::"
PASSES, ROOT = "samplers/blocked/elsewhere.py", "samplers/blocked/root.py"
BATCH, WALKS = "samplers/blocked/batch_elsewhere.py", "_fitting/walks.py"

ELSEWHERE = [
    Mutant(
        ROOT,
        "next",
        "leaders are found among the scanned rows alone",
        "np.minimum.at(leaders, labels[n_scanned:][elsewhere], self._leaders[elsewhere])",
        "pass",
        FEW_SCANNED,
        compiled=True,
    ),
    Mutant(
        ROOT,
        "next",
        "scanned rows never lead",
        "np.minimum.at(leaders, labels[:n_scanned], ranks)",
        "pass",
        LEADERS,
        compiled=True,
    ),
    Mutant(
        ROOT,
        "_sent",
        "weights do not know sigma",
        "self.sizes - self.prior.sigma_now",
        "self.sizes + 0.0",
        WEIGHTS,
        compiled=True,
    ),
    Mutant(
        ROOT,
        "receive",
        "labels keep the numbers of closed blocks",
        "number[found.scanned.labels]",
        "found.scanned.labels",
        CLOSED,
        compiled=True,
    ),
    Mutant(
        ROOT,
        "plan",
        "moves do not wait for a message with the same blocks",
        "if not self.makes_batches or len(found.sizes) < len(sent.message.leaders):",
        "if not self.makes_batches:",
        CLOSED,
        compiled=True,
    ),
    Mutant(
        ROOT,
        "lacks",
        "launches make do with what came",
        "if not lacking.any():",
        "if True:",
        ASKED,
        compiled=True,
    ),
    Mutant(
        PASSES,
        "look_ahead",
        "scanned rows lead before they are scanned",
        "elif ranks[r] < ahead.leaders[k]:",
        "if ranks[r] < ahead.leaders[k]:",
        ALL_SCANNED,
        compiled=True,
    ),
    Mutant(
        PASSES,
        "look_ahead",
        "anchors come first in the order for launches",
        "note_anchor(ahead.draws[k], ahead.anchors[k], draws[r], i)",
        "note_anchor(ahead.draws[k], ahead.anchors[k], rank, i)",
        ANCHORS,
        compiled=True,
    ),
    Mutant(
        PASSES,
        "note_anchor",
        "the last row is an anchor",
        "if draw < draws[0]:",
        "if True:",
        ANCHORS,
        compiled=True,
    ),
    Mutant(
        PASSES,
        "leaders_in",
        "leaders are sought where rows were before they were sorted",
        "labels[places] if len(places) else labels",
        "labels",
        ORDER,
        compiled=True,
    ),
    Mutant(
        PASSES,
        "total",
        "the leader is the last of the chunks",
        "np.minimum.reduce([part.leaders for part in parts])",
        "parts[-1].leaders",
        LEADERS,
        compiled=True,
    ),
    Mutant(
        BATCH,
        "launched_moves",
        "a merge is launched from the rows of one block",
        "np.concatenate([of_block[one], of_block[two]])",
        "of_block[one]",
        LAUNCH,
        compiled=True,
    ),
    Mutant(
        BATCH,
        "_with_ghosts",
        "scanned rows are on the other side than recorded",
        "own.sides[some]",
        "1 - own.sides[some]",
        ALL_SCANNED,
        compiled=True,
    ),
    Mutant(
        BATCH,
        "decide",
        "the leaders of the sides are exchanged",
        "divided.leaders[splitting].ravel()",
        "divided.leaders[splitting][:, ::-1].ravel()",
        FEW_SCANNED,
        compiled=True,
    ),
    Mutant(
        BATCH,
        "decide",
        "divisions have no probability",
        "moves.firsts[:], moves.log_q[:] = divided.firsts, divided.log_q",
        "moves.firsts[:] = divided.firsts",
        DECISIONS,
        compiled=True,
    ),
    Mutant(
        BATCH,
        "find_leaders_of_sides",
        "scanned rows lead a side",
        "if ranks[r] >= below and ranks[r] < leaders[g, s]:",
        "if ranks[r] < leaders[g, s]:",
        ALL_SCANNED,
        compiled=True,
    ),
    Mutant(
        "samplers/blocked/assignment.py",
        "number_of",
        "rows of all chunks have the same numbers",
        "np.uint64(numbering.first) + place",
        "place",
        LEADERS,
        compiled=True,
    ),
    Mutant(
        "likelihoods/gaussian/niw_sizes.py",
        "marginal_beyond",
        "a row too many beyond the table",
        "math.lgamma(0.5 * (nu + m - a))",
        "math.lgamma(0.5 * (nu + m + 1.0 - a))",
        f"{BEYOND}[niw-2]",
        compiled=True,
    ),
    Mutant(
        "likelihoods/gaussian/nig_sizes.py",
        "predictive_beyond",
        "units count once beyond the table",
        "for j in range(d):\n        total -= math.log(lik.unit[j])",
        "for j in range(1):\n        total -= math.log(lik.unit[j])",
        f"{BEYOND}[nig-4]",
        compiled=True,
    ),
    Mutant(
        "_fitting/chains_elsewhere.py",
        "outcome",
        "weights of predictions are those of the reference rows",
        "log_urn=log_urn_of(priors, draws), ",
        "",
        PREDICTS,
        compiled=True,
    ),
    Mutant(
        WALKS,
        "complete",
        "draws forget what was learned",
        "chain.prior, chain.learned = root.prior, root.learned",
        "chain.prior = root.prior",
        PREDICTS,
        compiled=True,
    ),
    Mutant(
        WALKS,
        "show_reference",
        "blocks keep the numbers of the message",
        "root.show(rows, rank[labels])",
        "root.show(rows, labels)",
        f"{FITS}test_reference_rows_number_the_blocks",
        compiled=True,
    ),
    Mutant(
        "_fitting/rows_elsewhere.py",
        "Memory.pass_over",
        "a chain divides by the labels of another",
        "self._labels[first, one.message.key.tobytes()] = own",
        "self._labels[first, one.message.key.tobytes()] = labels[0]",
        THREADS,
        compiled=True,
    ),
    Mutant(
        "_fitting/walk_checkpoint.py",
        "check_draw",
        "any sizes of a saved draw are taken",
        "draw.sizes.sum() == n_rows and draw.sizes.min() > 0",
        "True",
        VALUES,
        compiled=True,
    ),
    Mutant(
        "_fitting/large_starts.py",
        "start_from_some",
        "what was learned from some rows is forgotten",
        "learned=walk.root.learned,",
        "learned=None,",
        f"{FITS}test_many_rows_start_from_some",
        compiled=True,
    ),
    Mutant(
        "_fitting/dask_rows.py",
        "_run",
        "chunks come in the order of the workers",
        "result[c] = one",
        "result[c] = found[0]",
        f"{DASK}test_draws_are_those_of_passes_in_this_process",
        compiled=True,
    ),
    Mutant(
        "_estimators/dask_collections.py",
        "drawn_labels",
        "blocks are numbered from 0",
        "_labels_of_block)(block, int(first),",
        "_labels_of_block)(block, 0,",
        f"{DASK}test_labels_of_draws_are_made_again",
        compiled=True,
    ),
]
