"""Sequential Monte Carlo: samplers whose draws are weighted particles."""
