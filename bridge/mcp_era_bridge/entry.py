"""Where the command starts: a clean import path, then the child, then everything that takes time.

Lives here: what must happen before any other import. Does not: options (options.py), the start of
the child (spawn.py), the bridge itself (shell.py).

The host sets PYTHONPATH for the server, not for us, and `python -m` puts the working directory
first: a `trio.py` or a `selectors.py` there must not be taken for ours.
"""

import sys


def main() -> int:
    """Runs the command line in `sys.argv` and returns the exit code."""
    _clean_path()
    from mcp_era_bridge.start import start

    return start()


def _clean_path() -> None:
    """Takes out of `sys.path` what PYTHONPATH and the way we were called have put there.

    What belongs to this Python stays, and so does the folder that holds this package: last, so that
    nothing beside it can be taken for something else. The child's environment is not touched.
    """
    import os

    def real(path: str) -> str:
        try:
            return os.path.realpath(path or os.curdir)
        except OSError:
            return path  # the working directory has been deleted

    ours = real(os.path.join(os.path.dirname(__file__), os.pardir))
    roots = tuple(
        os.path.join(real(prefix), lib, "")
        for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
        for lib in ("lib", "lib64")
    )
    foreign = {real(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path}
    foreign.add(real(os.curdir))
    if sys.argv and sys.argv[0]:
        foreign.add(os.path.dirname(real(sys.argv[0])))
    kept: list[str] = []
    for path in sys.path:
        place = real(path)
        if place == ours and place in foreign and not (place + os.sep).startswith(roots):
            continue
        if place not in foreign or (place + os.sep).startswith(roots):
            kept.append(path)
    if not any(real(path) == ours for path in kept):
        kept.append(ours)
    sys.path[:] = kept
