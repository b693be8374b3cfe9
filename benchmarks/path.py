"""The path of a default fit: which modules it passes before its first kernel runs.

`python -m benchmarks.path` counts the modules of the package whose functions are called, and how
deep the calls are nested, until the first kernel runs (it binds the data), and until the first
kernel of the sampler runs. Then it counts the import edges between folders.
"""

import ast
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import bnpcluster
from bnpcluster import DPMixture

PACKAGE = Path(bnpcluster.__file__).parent


class FirstKernel(BaseException):
    """Ends the fit where it is to be looked at."""


def passed(where):
    """Modules in the order of their first call, and the depth at the first kernel in a folder."""
    modules, depth = [], [0]

    def look(frame, event, argument):
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(str(PACKAGE)):
            return
        name = str(Path(file).relative_to(PACKAGE))
        if name == "_core/jit.py" and frame.f_code.co_name == "__call__":
            kernel = getattr(frame.f_locals.get("self"), "py_func", None)
            if kernel is not None and where in kernel.__module__:
                depth[0] = sum(1 for f in stack(frame) if f.startswith(str(PACKAGE)))
                raise FirstKernel
        if name not in modules:
            modules.append(name)

    X = np.random.default_rng(0).normal(size=(60, 2))
    try:
        sys.setprofile(look)
        DPMixture(random_state=0).fit(X)
    except FirstKernel:
        pass
    finally:
        sys.setprofile(None)
    return modules, depth[0]


def stack(frame):
    """Files of the frames that are open, the innermost first."""
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


def edges():
    """How many imports lead from one folder to another."""
    found = Counter()
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bnpcluster"):
                parts = node.module.split(".")
                targets = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
                found.update((own, target) for target in targets if target != own)
    return found


def main():
    """Print the figures."""
    warnings.simplefilter("ignore")
    for where, what in (("", "the first kernel"), ("samplers", "the first kernel of the sampler")):
        modules, depth = passed(where)
        print(f"{len(modules)} modules before {what}, {depth} calls deep:")
        print("  " + "\n  ".join(modules))
    found = edges()
    print(f"{sum(found.values())} import edges between folders, of {len(found)} kinds")
    print(f"{len(list(PACKAGE.rglob('*.py')))} files, {len(list(PACKAGE.glob('*.py')))} at the top")


if __name__ == "__main__":
    main()
