"""Plausible bugs in the partition priors."""

from __future__ import annotations

from tests.mutants import Mutant

CONTRACT = "priors/test_all.py::test_contract"
JOINT = "priors/test_all.py::test_update_keeps_the_joint_law"
FAMILIES = "priors/test_families.py"

PARTITION_PRIORS = [
    Mutant(
        "priors/pitman_yor.py",
        "V forgets the discount",
        "alpha + d * np.arange(1, k_max)",
        "alpha + np.arange(1, k_max)",
        f"{CONTRACT}[py-0]",
    ),
    Mutant(
        "priors/pitman_yor.py",
        "V's product starts a factor early",
        "log_v[2:] = np.cumsum",
        "log_v[1:-1] = np.cumsum",
        f"{CONTRACT}[py-0]",
    ),
    Mutant(
        "priors/pitman_yor.py",
        "W has the wrong sign of d",
        "log_rising_table(1.0 - d, n)",
        "log_rising_table(1.0 + d, n)",
        f"{CONTRACT}[py-0]",
    ),
    Mutant(
        "priors/pitman_yor.py",
        "the urn does not discount the blocks",
        "np.append(sizes - d, new)",
        "np.append(sizes, new)",
        f"{CONTRACT}[py-0]",
    ),
    Mutant(
        "priors/pitman_yor.py",
        "update: z is drawn with the wrong odds",
        "* (j - d) >= j - 1.0",
        "* (j - d) >= j - d * d",
        f"{JOINT}[1500-py-2]",
    ),
    Mutant(
        "priors/pitman_yor.py",
        "update: blocks do not count for alpha",
        "rng.gamma(shape + from_alpha)",
        "rng.gamma(shape)",
        f"{JOINT}[1500-py-2]",
    ),
    Mutant(
        "priors/finite_dirichlet.py",
        "labelled, not unlabelled partitions",
        "np.cumsum(np.log(k0 - k[:-1]))",
        "np.zeros(len(k) - 1)",
        f"{CONTRACT}[finite-0]",
    ),
    Mutant(
        "priors/finite_dirichlet.py",
        "W is not normalised",
        "log_rising_table(1.0 + a, n)",
        "log_rising_table(a, n)",
        f"{CONTRACT}[finite-0]",
    ),
    Mutant(
        "priors/finite_dirichlet.py",
        "the urn offers used components again",
        "a * max(k0 - len(sizes), 0)",
        "a * k0",
        f"{CONTRACT}[finite-0]",
    ),
    Mutant(
        "priors/finite_dirichlet.py",
        "log_eppf forgets the power of a",
        "math.lgamma(k0 - k + 1) + k * math.log(a)",
        "math.lgamma(k0 - k + 1)",
        f"{FAMILIES}::test_golden_numbers",
    ),
    Mutant(
        "priors/mfm.py",
        "the series forgets the falling factorial",
        "terms = base + _falling(m, used)",
        "terms = base + 0 * _falling(m, used)",
        f"{CONTRACT}[mfm-2]",
    ),
    Mutant(
        "priors/mfm.py",
        "no power of g",
        "+ np.arange(k_max + 1) * math.log(g)",
        "+ np.arange(k_max + 1) * 0.0",
        f"{CONTRACT}[mfm-2]",
    ),
    Mutant(
        "priors/mfm.py",
        "Gnedin's law with a power for a rising factorial",
        "gammaln(m - parameter)",
        "m * math.log(1 - parameter)",
        f"{CONTRACT}[mfm-1]",
    ),
    Mutant(
        "priors/mfm.py",
        "the heavy tail is cut off",
        '    if name == "gnedin":\n        for k',
        '    if name == "none":\n        for k',
        f"{CONTRACT}[mfm-1]",
    ),
    Mutant(
        "priors/mfm.py",
        "the urn takes V at n twice",
        "then = log_v(n, k, g, *law)[k], log_v(n + 1,",
        "then = log_v(n, k, g, *law)[k], log_v(n,",
        f"{CONTRACT}[mfm-0]",
    ),
    Mutant(
        "priors/ngg.py",
        "V has one sigma too many",
        "(k - 1) * math.log(sigma)",
        "k * math.log(sigma)",
        f"{CONTRACT}[ngg-0]",
    ),
    Mutant(
        "priors/ngg.py",
        "the integrand's power is n",
        "tau * np.exp(y) + (n - 1) * np.log",
        "tau * np.exp(y) + n * np.log",
        f"{CONTRACT}[ngg-0]",
    ),
    Mutant(
        "priors/ngg.py",
        "the integral is cut off too near",
        "DROP = 45.0",
        "DROP = 4.0",
        f"{CONTRACT}[ngg-0]",
    ),
    Mutant(
        "priors/ngg.py",
        "the urn does not discount the blocks",
        "np.log(sizes - sigma)",
        "np.log(sizes)",
        f"{CONTRACT}[ngg-0]",
    ),
    Mutant(
        "priors/ngg.py",
        "log_eppf forgets the sizes",
        "+ log_w)",
        "+ 0 * log_w)",
        f"{FAMILIES}::test_golden_numbers",
    ),
    Mutant(
        "priors/hyper_priors.py",
        "slice sampling without the Jacobian of the log",
        "return pair[0] * x - pair[1]",
        "return (pair[0] - 1) * x - pair[1]",
        f"{JOINT}[1500-finite-2]",
    ),
    Mutant(
        "priors/hyper_priors.py",
        "proposals are not uniform in the slice",
        "(right - left) * rng.random()",
        "(right - left) * rng.random() ** 2",
        f"{JOINT}[1500-finite-2]",
    ),
    Mutant(
        "priors/hyper_priors.py",
        "the level of the slice is the density itself",
        "+ math.log(1.0 - rng.random())",
        "+ 0.0",
        f"{JOINT}[1500-finite-2]",
    ),
    Mutant(
        "priors/hyper_priors.py",
        "draws ignore the rate",
        "float(rng.gamma(pair[0])) / pair[1]",
        "float(rng.gamma(pair[0]))",
        f"{JOINT}[1500-finite-2]",
    ),
    Mutant(
        "priors/rising_factorials.py",
        "clusters open one item late",
        "for m in range(1, n):",
        "for m in range(2, n):",
        f"{FAMILIES}::test_prior_of_the_number_of_clusters",
    ),
]
