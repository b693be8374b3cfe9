"""How the documentation is built: `bash run docs`, or `sphinx-build -W --keep-going doc OUT`.

Pages are Markdown; the gallery runs the examples; the reference is made of the docstrings; the
dossier of correctness is made of what the tests said. Warnings are errors.
"""

import importlib
import inspect
import os
import sys
from pathlib import Path

DOC = Path(__file__).parent
sys.path.insert(0, str(DOC.parent))
os.environ.setdefault("MPLBACKEND", "agg")

import bnpcluster  # noqa: E402 (of these sources, installed or not)
from bnpcluster._core.descriptions import table  # noqa: E402
from bnpcluster.likelihoods import LIKELIHOODS, Likelihood  # noqa: E402
from bnpcluster.priors import PRIORS, Prior  # noqa: E402
from bnpcluster.samplers import SAMPLERS, Sampler  # noqa: E402

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
FOR_USERS = {"expected_clusters", "from_expected_clusters", "n_clusters_pmf"}
COMPONENTS = (Likelihood, Prior, Sampler)
BASES = {"Likelihood", "ParticleSampler", "Prior", "Sampler"}


def split_members(module, name):
    """What the page of a class shows first, and what it shows under "for those who extend".

    Users write a component's name and parameters, and the package calls its methods. A base class
    is for those who extend altogether, so its page is like that of any class.
    """
    cls = getattr(importlib.import_module(module), name)
    if not issubclass(cls, COMPONENTS) or name in {
        "Likelihood",
        "Prior",
        "ParticleSampler",
        "Sampler",
    }:
        return {"for_users": [], "internal": []}
    own = [m for m in dir(cls) if not m.startswith("_") and is_own(cls, m)]
    static = {m: inspect.getattr_static(cls, m) for m in own}
    found = [
        ("method" if callable(value) or hasattr(value, "__func__") else "attribute", m)
        for m, value in static.items()
    ]
    return {
        "for_users": [pair for pair in found if pair[1] in FOR_USERS],
        "internal": [pair for pair in found if pair[1] not in FOR_USERS],
    }


def is_own(cls, name):
    """Whether a member was defined here, and not by scikit-learn or Python."""
    owner = next(c for c in cls.__mro__ if name in vars(c))
    return owner.__module__.split(".")[0] == "bnpcluster"


autosummary_context = {"split_members": split_members}
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
    # Displays and artists at the end of a block would be shown as "<... object at 0x...>".
    "capture_repr": ("_repr_html_",),
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
