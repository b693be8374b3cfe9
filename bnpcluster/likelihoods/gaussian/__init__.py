"""Gaussian clusters, with full covariance or independent columns."""
