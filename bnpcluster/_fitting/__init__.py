"""How a fit runs: chains, rounds, workers, checkpoints, progress."""
