"""Points in time, in seconds of the shell's clock; None stands for never."""


def earliest(*times: float | None) -> float | None:
    """The first of several points in time."""
    first: float | None = None
    for time in times:
        if time is not None and (first is None or time < first):
            first = time
    return first
