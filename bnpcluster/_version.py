"""The version of the package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("bnpcluster")
except PackageNotFoundError:  # a source tree that was not installed
    __version__ = "0.0.0"
