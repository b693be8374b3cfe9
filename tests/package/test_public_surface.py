"""Every public name, its import path and its signature stand in a snapshot."""

from tests.tools.surface import SNAPSHOT, modules, surface


def test_the_public_surface_is_the_snapshot():
    """If a change is meant, `python -m tests.tools.surface` writes the snapshot anew."""
    assert len(modules()) >= 11
    assert surface() == SNAPSHOT.read_text().splitlines()
