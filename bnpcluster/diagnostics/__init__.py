"""Convergence diagnostics: R-hat, effective sample sizes, autocorrelation times, one verdict."""

from bnpcluster.diagnostics.autocorrelation import autocorrelation_time
from bnpcluster.diagnostics.chains import Diagnostics, diagnose
from bnpcluster.diagnostics.verdict import Answer

__all__ = ["Answer", "Diagnostics", "autocorrelation_time", "diagnose"]
