"""Bugs of checkpoints, interrupts, and chains in other processes."""

from __future__ import annotations

from tests.mutants import Mutant

SURVIVAL = "_fitting/test_checkpoint.py::"
DEATHS = f"{SURVIVAL}test_twenty_deaths_change_no_bit"
FULL = f"{SURVIVAL}test_a_full_disk_loses_nothing_wherever_it_ends"
GOES_ON = f"{SURVIVAL}test_a_fit_goes_on_when_the_disk_is_full_and_resumes_what_was_saved"
FOREIGN = f"{SURVIVAL}test_the_file_of_another_fit_is_refused_under_any_name"
FLIPPED = f"{SURVIVAL}test_a_flipped_bit_is_noticed_wherever_it_matters"
TWO = f"{SURVIVAL}test_two_fits_may_save_at_the_same_time"
KILLED = f"{SURVIVAL}test_workers_killed_by_an_interrupt_cost_their_round"
DRAWS = f"{SURVIVAL}test_draws_do_not_travel"
SHARED = "_fitting/test_workers.py::test_shared_data_are_read_where_they_have_arrived"
CLUSTER = "_fitting/test_workers.py::test_a_cluster_changes_no_bit_and_gets_the_data_once"
LOST = "_fitting/test_workers.py::test_workers_without_the_data_get_them_and_change_no_bit"
CLOCK = "_fitting/test_workers.py::test_time_limits_do_not_depend_on_the_clock_of_a_machine"
ROUNDS = "test_mixtures.py::test_rounds_change_no_bit"
STOPPED = "test_mixtures.py::test_a_stopped_fit_resumes_bit_for_bit"

LONG_RUNS = [
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.__init__",
        "the file is written under its final name",
        'self.temporary = self.path.with_name(f"{self.path.stem}-{uuid4().hex}.tmp")',
        "self.temporary = self.path",
        FULL,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.__init__",
        "two fits write under the same name",
        "-{uuid4().hex}.tmp",
        "-x.tmp",
        TWO,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.mismatch",
        "any fit serves",
        'about["identity"] != self.identity',
        "False",
        FOREIGN,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.mismatch",
        "any format serves",
        'about["format"] != self.format',
        "False",
        f"{SURVIVAL}test_another_format_is_refused",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.read",
        "pickles are opened",
        "allow_pickle=False) as file",
        "allow_pickle=True) as file",
        f"{SURVIVAL}test_what_is_no_checkpoint_is_refused",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.read",
        "some kinds of damage raise something else",
        "        except Exception as error:",
        "        except (OSError, ValueError, KeyError) as error:",
        FLIPPED,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.save",
        "a full disk ends the fit",
        "        except OSError as error:\n            if not",
        "        except ZeroDivisionError as error:\n            if not",
        GOES_ON,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.save",
        "a full disk warns at every save",
        "            self.warned = True\n",
        "",
        GOES_ON,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.replace",
        "a save that failed leaves its file",
        "            remove_file(self.temporary)\n",
        "            pass\n",
        FULL,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.__init__",
        "files of the dead stay for ever",
        "        self.remove_leftovers()\n",
        "",
        f"{SURVIVAL}test_what_the_dead_left_is_cleared_away_and_nothing_else",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.remove_leftovers",
        "everybody's files are cleared away",
        'f"{self.path.stem}-*.tmp"',
        '"*.tmp"',
        f"{SURVIVAL}test_what_the_dead_left_is_cleared_away_and_nothing_else",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.save",
        "long saves are as frequent as short ones",
        "EVERY * max(1.0, self.seconds / SHORT)",
        "EVERY",
        f"{SURVIVAL}test_saves_that_take_long_are_made_less_often",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "Checkpoint.write",
        "chains resume from where they were stopped",
        "snapshot = None if finished else chain.boundary",
        "snapshot = None",
        STOPPED,
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "thawed",
        "chains resume with new randomness",
        '    generator.bit_generator.state = checked_generator(meta["generator"])\n',
        "",
        "test_mixtures.py::test_checkpoint_resumes_bit_for_bit",
    ),
    Mutant(
        "_fitting/checkpoint.py",
        "thawed",
        "resumed chains forget their counts of moves",
        '        counts=Counter(meta["counts"]),\n',
        "",
        DEATHS,
    ),
    Mutant(
        "_fitting/rounds.py",
        "Chain.snapshot",
        "a boundary counts only the draws of its round",
        "self.n_before + len(self.draws)",
        "len(self.draws)",
        DRAWS,
    ),
    Mutant(
        "_fitting/rounds.py",
        "Chain.continued_by",
        "draws of earlier rounds are lost",
        "getattr(self, name) + getattr(later, name)",
        "getattr(later, name)",
        DRAWS,
    ),
    Mutant(
        "_fitting/rounds.py",
        "_fixed_round_ends",
        "rounds end wherever it is convenient",
        "start = min((start // BOUNDARY * BOUNDARY) + length, total)",
        "start = min(start + length - 7, total)",
        ROUNDS,
    ),
    Mutant(
        "_fitting/rounds.py",
        "round_ends",
        "the first chain decides what is left to do",
        "start = min(chain.iteration for chain in chains())",
        "start = chains()[0].iteration",
        f"{SURVIVAL}test_chains_that_were_stopped_apart_all_reach_the_end",
    ),
    Mutant(
        "_fitting/rounds.py",
        "advance_parallel",
        "workers without the data keep lacking them",
        "        data.sent = False\n",
        "",
        LOST,
    ),
    Mutant(
        "_fitting/rounds.py",
        "advance_parallel",
        "the data travel in every round",
        "    data.sent = True\n",
        "",
        CLUSTER,
    ),
    Mutant(
        "_fitting/rounds.py",
        "run_chains",
        "workers killed by an interrupt are an error",
        "except (BrokenProcessPool, KeyboardInterrupt) as error:",
        "except ZeroDivisionError as error:",
        KILLED,
    ),
    Mutant(
        "_fitting/rounds.py",
        "run_chains",
        "workers killed by something else are none",
        "if not (stop.requested.is_set() if broken else stop.given_up):",
        "if False:",
        f"{SURVIVAL}test_workers_that_break_down_are_an_error",
    ),
    Mutant(
        "_fitting/stop.py",
        "Stop.wait",
        "dead workers are waited for",
        "            _thread.interrupt_main()\n",
        "",
        f"{SURVIVAL}test_workers_that_do_not_come_back_are_given_up",
    ),
    Mutant(
        "_fitting/workers.py",
        "SharedData.__sizeof__",
        "dask is not told of the size",
        "(0 if self.sent else len(self.packed))",
        "0",
        f"{SHARED} {CLUSTER}",
    ),
    Mutant(
        "_fitting/workers.py",
        "SharedData.packed",
        "the data are packed for every task",
        "    @cached_property\n",
        "    @property\n",
        SHARED,
    ),
    Mutant(
        "_fitting/workers.py",
        "receive",
        "workers keep all data they ever saw",
        "list(RECEIVED)[:-KEPT]",
        "[]",
        SHARED,
    ),
    Mutant(
        "_fitting/stop.py",
        "Stop.__getstate__",
        "workers elsewhere read the time limit on their own clock",
        "self.deadline - time.monotonic()\n",
        "self.deadline\n",
        CLOCK,
    ),
    Mutant(
        "_fitting/stop.py",
        "Stop.__getstate__",
        "tasks that start after an interrupt do not know of it",
        '"requested": self.requested.is_set()',
        '"requested": False',
        CLOCK,
    ),
]
