"""Random numbers by counter: Philox as published, uniforms and ranks as promised."""

import numpy as np
from scipy.stats import kstest

from bnpcluster.samplers.blocked.counters import draw_key, fill_random, fill_ranks

LOW = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10 in integers of Python."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & LOW, (p >> 32) ^ c[3] ^ k[1], p & LOW]
        k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
    return c


def numbers(key, items):
    """Uniforms and ranks of items."""
    uniforms, ranks, alone = np.zeros(len(items)), *np.zeros((2, len(items)), np.uint64)
    fill_random(key, items, uniforms, ranks)
    fill_ranks(key, items, alone)
    np.testing.assert_array_equal(ranks, alone)
    return uniforms, ranks


def test_the_reference_is_the_published_generator():
    """Known answers of Random123."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    expected = [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert philox([LOW] * 4, [LOW] * 2) == expected


def test_uniforms_and_ranks_are_words_of_the_generator():
    items = np.array([0, 1, 77, (1 << 31) + 5])
    for key in ([0, 0], [LOW, LOW], [123456789, 987654321]):
        uniforms, ranks = numbers(np.array(key, np.uint64), items)
        for i, u, rank in zip(items.tolist(), uniforms, ranks.tolist(), strict=True):
            words = philox([i & LOW, i >> 32, 0, 0], key)
            assert u == ((words[0] << 32 | words[1]) >> 11) * 2.0**-53
            assert rank == words[2] << 32 | i


def test_keys_give_other_orders_and_other_uniforms():
    rng, items = np.random.default_rng(0), np.arange(20_000)
    (u, r), (v, s) = (numbers(draw_key(rng), items) for _ in range(2))
    assert min(kstest(x, "uniform").pvalue for x in (u, v, r / 2.0**64)) > 1e-3
    for x, y in ((u, v), (r, s), (u, r), (u[1:], u[:-1]), (r[1:], r[:-1])):
        assert abs(np.corrcoef(x.astype(float), y.astype(float))[0, 1]) < 0.03
    assert len(np.unique(r)) == len(r)
