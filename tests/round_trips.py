"""What a row of the tables of round trips says.

Lives here: one feature, with its dialogue and what is lost. Does not: the rows (they are in
round_trips_of_modern_ends.py and round_trips_of_legacy_ends.py).
"""

from typing import NamedTuple


class Feature(NamedTuple):
    """One feature. `script` is its dialogue (chains.py), after `opening`; `loss` says what is not
    as it would be without bridges, if anything, and `clause` why it cannot be."""

    name: str
    script: str
    loss: str = ""
    clause: str = ""
    opening: str = ""
