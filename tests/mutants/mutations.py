"""Bugs of PyClone's likelihood and of what takes tables of mutations in and out."""

from __future__ import annotations

from tests.mutants import Mutant

GRID, GENOTYPES = "likelihoods/pyclone/kernels.py", "likelihoods/pyclone/genotypes.py"
TABLES, LAW, OUT = (
    "likelihoods/pyclone/tables.py",
    "likelihoods/pyclone/likelihood.py",
    "pyclone.py",
)
TESTS = "likelihoods/test_pyclone.py::"
MIXTURES = f"{TESTS}test_matches_mixtures_over_genotypes"
GOLDEN = f"{TESTS}test_golden_numbers"
DEEP = f"{TESTS}test_deep_reads_lose_no_digits[3000]"
MISSING = f"{TESTS}test_samples_multiply_and_a_missing_one_says_nothing"
WEIGHTS = f"{TESTS}test_weights_of_many_slots[3-2000]"
BAD = f"{TESTS}test_bad_values_get_one_sentence"
FRAMES = "test_pyclone.py::"
AVERAGES = f"{FRAMES}test_prevalences_are_averages_over_all_partitions"
ROWS = f"{FRAMES}test_rows_are_mutations_in_the_order_of_first_appearance"

MUTATION_MUTANTS = [
    Mutant(
        GENOTYPES,
        "a late mutation is possible without a change of copies",
        "return states if total == normal else [*states, (total, total, 1)]",
        "return [*states, (total, total, 1)]",
        f"{MIXTURES}[None-major_copy_number]",
    ),
    Mutant(
        GENOTYPES,
        "the minor copies count as possibly mutated",
        "for b in range(1, major + 1)]",
        "for b in range(1, total + 1)]",
        GOLDEN,
    ),
    Mutant(
        GENOTYPES,
        "a parental copy number of zero is a state",
        "sorted({1, minor, major} - {0})",
        "sorted({1, minor, major})",
        f"{MIXTURES}[None-parental_copy_number]",
    ),
    Mutant(
        GENOTYPES,
        "equal reference genotypes are counted twice",
        "product(sorted({normal, total}), range(1, total + 1))",
        "product([normal, total, normal], range(1, total + 1))",
        f"{MIXTURES}[None-total_copy_number]",
    ),
    Mutant(
        GENOTYPES,
        "diploid states keep the normal copy number of the data",
        "            normal = 2\n",
        "            pass\n",
        f"{MIXTURES}[None-AB]",
    ),
    Mutant(
        GENOTYPES,
        "cells with all copies mutated show no errors",
        "mutated == copies, 1.0 - e, mutated / copies",
        "mutated == copies, 1.0, mutated / copies",
        f"{MIXTURES}[None-BB]",
    ),
    Mutant(
        GENOTYPES,
        "tumour cells without the mutation show no errors",
        "(n * e + r * e + v * variant)",
        "(n * e + v * variant)",
        GOLDEN,
    ),
    Mutant(
        GENOTYPES,
        "the average over genotypes is a sum",
        " - np.log(chance.shape[2])",
        "",
        GOLDEN,
    ),
    Mutant(
        GENOTYPES,
        "the parameters of the beta law are swapped",
        "betaln(b + one, rest + zero)",
        "betaln(b + zero, rest + one)",
        f"{MIXTURES}[30.0-AB]",
    ),
    Mutant(
        GENOTYPES,
        "rows of other copy numbers are taken for those of the first",
        "np.unique(reads[:, 2:5], axis=0",
        "np.unique(reads[:, 2:3], axis=0",
        f"{MIXTURES}[None-major_copy_number]",
    ),
    Mutant(
        GRID,
        "the marginal forgets that the grid has M points",
        "total += lik.log_total[k, s] - math.log(lik.n_grid)",
        "total += lik.log_total[k, s]",
        GOLDEN,
    ),
    Mutant(
        GRID,
        "products that vanish are believed",
        "        if value > SMALL:\n            total += math.log(value)\n        elif",
        "        if value > 1e-300:\n            total += math.log(value)\n        elif",
        DEEP,
    ),
    Mutant(
        GRID,
        "a slot is given up although it may matter",
        "elif total + LOG_SMALL + 1.0 > least:",
        "elif least == -math.inf and total > 0.0:",
        DEEP,
    ),
    Mutant(
        GRID,
        "the sum of logarithms keeps the largest term of the item",
        "            total -= lik.top[r]\n",
        "",
        DEEP,
    ),
    Mutant(
        GRID,
        "the bound of further samples forgets that a factor may be small",
        "if not total > least:",
        "if not total > least + 5.0:",
        WEIGHTS,
    ),
    Mutant(
        GRID,
        "a sample that lacks the item is taken for the last kind of reads",
        "    for s in range(lik.kind.shape[1]):\n        r = lik.kind[i, s]\n"
        "        if r >= 0:\n            sums, log_terms",
        "    for s in range(lik.kind.shape[1]):\n        r = lik.kind[i, s]\n"
        "        if r >= -1:\n            sums, log_terms",
        MISSING,
    ),
    Mutant(
        GRID,
        "the span loses its last eight points",
        "span[1] = padded(last + 1)",
        "span[1] = last // LANES * LANES",
        GOLDEN + f" {MIXTURES}[None-major_copy_number]",
    ),
    Mutant(
        GRID,
        "the posterior is not normalised",
        "        posterior[j] /= total\n",
        "        posterior[j] /= 1.0\n",
        f"{MIXTURES}[None-major_copy_number]",
    ),
    Mutant(
        GRID,
        "leave-one-out adds the item once more",
        "log_sum(lik.sums[k, s], lik.log_terms[r], -1.0)",
        "log_sum(lik.sums[k, s], lik.log_terms[r], 1.0)",
        f"{MIXTURES}[None-major_copy_number]",
    ),
    Mutant(
        GRID,
        "the union counts one block",
        "total += math.log(value) + lik.log_total[one, s] + lik.log_total[two, s]",
        "total += math.log(value) + 2 * lik.log_total[one, s]",
        "likelihoods/test_all.py::test_contract[pyclone-1]",
    ),
    Mutant(
        GRID,
        "a copy keeps its span",
        "        lik.span[to, s, 1] = lik.span[source, s, 1]\n",
        "",
        f"{TESTS}test_a_copy_onto_a_narrow_posterior_is_whole",
    ),
    Mutant(
        GRID,
        "an emptied slot keeps what rounding left",
        "        clear(lik, k)\n    else:\n        shift(lik, k, i, -1.0)",
        "        pass\n    shift(lik, k, i, -1.0)",
        f"{TESTS}test_an_emptied_slot_is_a_cleared_one",
    ),
    Mutant(
        TABLES,
        "samples side by side change places with columns",
        "out[at.sample, c, at.mutation]",
        "out[at.sample - 1, c, at.mutation]",
        ROWS,
    ),
    Mutant(
        TABLES,
        "mutations are sorted by name",
        "    order = np.argsort(first)\n",
        "    order = np.arange(len(first))\n",
        ROWS,
    ),
    Mutant(
        TABLES,
        "two rows of a mutation are told apart by their mutation alone",
        "np.unique(mutation * len(samples) + sample, return_counts=True)",
        "np.unique(np.arange(len(sample)), return_counts=True)",
        f"{FRAMES}test_bad_tables_get_one_sentence",
    ),
    Mutant(
        TABLES,
        "a tumour content of zero is taken",
        "(content > 0) & (content <= 1)",
        "(content >= 0) & (content <= 1)",
        BAD,
    ),
    Mutant(
        LAW,
        "samples come from the depth of the variant reads",
        "depth = row[s, 0] + row[s, 1]",
        "depth = row[s, 0]",
        f"{TESTS}test_samples_follow_the_predictive[binomial]",
    ),
    Mutant(
        LAW,
        "samples do not scatter more than binomial ones",
        "if law.precision is not None:",
        "if law.precision == 0:",
        f"{TESTS}test_samples_follow_the_predictive[beta_binomial]",
    ),
    Mutant(
        LAW,
        "k-means sees a prevalence of zero where there are no reads",
        "return np.where(seen, prevalence, mean)",
        "return prevalence",
        f"{TESTS}test_features_are_prevalences",
    ),
    Mutant(
        OUT,
        "draws count alike whatever their weight",
        "add_posteriors(bound, partition.labels, weights[r], total)",
        "add_posteriors(bound, partition.labels, 1.0, total)",
        AVERAGES,
    ),
    Mutant(
        OUT,
        "intervals leave out one tail too much",
        "grid[(below < 1.0 - beyond)",
        "grid[(below < 1.0 - 2 * beyond)",
        AVERAGES,
    ),
    Mutant(
        OUT,
        "the agreement is that of the first cluster",
        "overlap[labels[r], fitted.estimate]",
        "overlap[labels[r], 0]",
        AVERAGES,
    ),
    Mutant(
        "_estimators/mixture.py",
        "a new table is read by the likelihood of a later parameter",
        "likelihood = self._law() if reset else self._likelihood",
        "likelihood = self._law()",
        f"{FRAMES}test_a_fit_keeps_its_likelihood",
    ),
    Mutant(
        "_estimators/mixture.py",
        "every likelihood takes NaN",
        '"allow-nan" if likelihood.takes_nan else True',
        '"allow-nan"',
        f"{FRAMES}test_other_likelihoods_still_refuse_nan",
    ),
]
