"""How the documentation is built: `bash run docs`, or `sphinx-build -W --keep-going doc OUT`.

Pages are Markdown; the gallery runs the examples; the reference is made of the docstrings; the
dossier of correctness is made of what the tests said. Warnings are errors.
"""

import os
import sys
from pathlib import Path

DOC = Path(__file__).parent
sys.path.insert(0, str(DOC.parent))
os.environ.setdefault("MPLBACKEND", "agg")

import bnpcluster  # noqa: E402 (of these sources, installed or not)
from bnpcluster._core.descriptions import table  # noqa: E402
from bnpcluster.likelihoods import LIKELIHOODS  # noqa: E402
from bnpcluster.priors import PRIORS  # noqa: E402
from bnpcluster.samplers import SAMPLERS  # noqa: E402

project = "bnpcluster"
author = "The bnpcluster developers"
copyright = author
version = release = bnpcluster.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_generated",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.json",
]
suppress_warnings = [
    "config.cache",  # the gallery's settings hold objects
    "myst.header",  # pages that programs write begin their sections where they like
    "toc.not_readable",  # a page that is not there yet; one that is nowhere listed is an error
]
html_theme = "furo"
html_title = f"bnpcluster {release}"
html_show_copyright = False
default_role = "literal"  # single backquotes in docstrings

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

templates_path = ["_templates"]
autosummary_generate = True
autosummary_ignore_module_all = False  # public is what a module says is public
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say what parameters are
numpydoc_show_class_members = False  # the template of a class shows them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"new_likelihood",  # it is shown in full in another page
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}


def skip_member(app, what, name, member, skip, options):
    """Leave out what scikit-learn and tuples bring along."""
    doc = getattr(member, "__doc__", None) or ""
    foreign = (getattr(member, "__module__", None) or "").startswith("sklearn")
    return True if foreign or doc.startswith("Alias for field") else skip


def write_tables():
    """The tables of all components, from the registries."""
    folder = DOC / "_generated"
    folder.mkdir(exist_ok=True)
    for name, registry in {
        "likelihoods": LIKELIHOODS,
        "priors": PRIORS,
        "samplers": SAMPLERS,
    }.items():
        (folder / f"{name}.md").write_text(table(registry))


def setup(app):
    """Called by Sphinx."""
    write_tables()
    app.connect("autodoc-skip-member", skip_member)
