"""Measurements, never tests: `python -m benchmarks` prints ratios; see __main__."""
