"""Draw the picture of the folders, `folders.svg`: `python doc/figures/folders.py`."""

from html import escape
from pathlib import Path

# From the top down: what stands in a row may import what stands in the rows below it, no more.
ROWS = [
    [("cli", "the command line")],
    [("testing", "exact posteriors, checks of components"), ("extending", "for your components")],
    [("mixtures", "of rows"), ("relational", "networks"), ("pyclone", "mutations")],
    [("_estimators", "what the estimators share")],
    [("plotting", "one display per file")],
    [
        ("densities", "some columns given others"),
        ("evidence", "Bayes factors"),
        ("comparison", "of two models"),
    ],
    [("_predict", "the posterior predictive, imputation")],
    [("_fitting", "chains, rounds, workers, checkpoints")],
    [("diagnostics", "whether to trust the draws")],
    [("posterior", "the draws, and what you ask of them")],
    [
        ("priors", "of partitions"),
        ("likelihoods", "of a cluster's rows"),
        ("samplers", "one step of a chain"),
        ("partitions", "estimates, losses"),
    ],
    [("_core", "compilation, operations, partition, state")],
]
WIDTH, HEIGHT, GAP, TOP = 760, 44, 10, 34
FILLS = {True: "#eceff3", False: "#d9ebff"}  # private, public
TEXT = '<text x="{}" y="{}" text-anchor="{}" {}>{}</text>'


def box(name: str, about: str, x: float, y: float, width: float) -> list[str]:
    """A folder or module: its name, and what it is for."""
    fill, middle = FILLS[name.startswith("_")], x + width / 2
    bold = 'font-weight="600" font-family="monospace"'
    lines = [
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="6" fill="{fill}"/>',
        TEXT.format(f"{middle:g}", f"{y + (19 if about else 27):g}", "middle", bold, name),
    ]
    if about:
        lines.append(
            TEXT.format(f"{middle:g}", f"{y + 35:g}", "middle", 'font-size="12"', escape(about))
        )
    return lines


def picture() -> str:
    """The picture as SVG."""
    height = TOP + len(ROWS) * (HEIGHT + GAP) + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="14" fill="#1b2733" role="img" '
        'aria-label="The folders of bnpcluster, in the order in which they may import">',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        TEXT.format(GAP, 22, "start", "", "A folder imports only from the rows below it."),
    ]
    for x, name, private in ((520, "public", False), (620, "private", True)):
        lines.append(
            f'<rect x="{x}" y="10" width="16" height="16" rx="3" fill="{FILLS[private]}"/>'
        )
        lines.append(TEXT.format(x + 22, 23, "start", "", name))
    for i, row in enumerate(ROWS):
        width = (WIDTH - GAP) / len(row) - GAP
        for j, (name, about) in enumerate(row):
            x = GAP + j * (width + GAP)
            lines += box(name, about, x, TOP + i * (HEIGHT + GAP), width)
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture())
