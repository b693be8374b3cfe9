"""What models advise, in the words of the command line."""

from __future__ import annotations

import re

OPTIONS = {
    r"sampler=('|&#x27;)(\w+)\1": r"--sampler \2",
    r"with continue_fit\(n_draws\)": "with more --draws and --warmup",
    r"continue_fit\((\d+)\) should": r"\1 more --draws should",
    "raise max_time, lower n_warmup, or call": "raise --max-time, lower --warmup, or call",
    "call continue_fit": "use --checkpoint",
    "raise n_particles": "raise --particles",
    r"give PyClone\(error_rate=\.\.\.\)": "use --error-rate",
    r"others, n_chains=(\d+)": r"others, --chains \1",
}
"""Patterns of advice, in text or HTML, and what it is there."""


def as_options(text: str) -> str:
    """The text, with options in place of methods and parameters."""
    for pattern, option in OPTIONS.items():
        text = re.sub(pattern, option, text)
    return text
