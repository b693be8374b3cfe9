"""Convergence diagnostics: R-hat, effective sample sizes, autocorrelation times, one verdict."""

from bnpcluster.diagnostics.chains import Diagnostics, autocorrelation_time, diagnose

__all__ = ["Diagnostics", "autocorrelation_time", "diagnose"]
