"""Two bridges back to back lose nothing, but for what one of the eras has no place for."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from chains import Chain, Dialogue, has_losses
from mcp_era_wire.versions import Era
from round_trips import Feature
from round_trips_across import (
    CHANGES,
    CHANGES_BY_THREE,
    LEGACY_TO_MODERN,
    MODERN_TO_LEGACY,
)
from round_trips_of_legacy_ends import FEATURES as OF_LEGACY_ENDS
from round_trips_of_modern_ends import FEATURES as OF_MODERN_ENDS

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "round-trips.md"
L, M = Era.LEGACY, Era.MODERN


def name_of(feature: Feature) -> str:
    return feature.name


def chain_name(eras: Sequence[Era]) -> str:
    return "-".join(era.value for era in eras)


@pytest.mark.parametrize(
    "eras", [(L, M), (L, L, M), (L, M, M), (M, L, M), (L, M, L, M)], ids=chain_name
)
@pytest.mark.parametrize("feature", OF_MODERN_ENDS, ids=name_of)
def test_between_a_modern_host_and_a_modern_server(feature: Feature, eras: Sequence[Era]) -> None:
    Dialogue(Chain(*eras)).play(feature.opening + feature.script)


@pytest.mark.parametrize(
    "eras", [(M, L), (L, M, L), (M, M, L), (M, L, L), (M, L, M, L)], ids=chain_name
)
@pytest.mark.parametrize("feature", OF_LEGACY_ENDS, ids=name_of)
def test_between_a_legacy_host_and_a_legacy_server(feature: Feature, eras: Sequence[Era]) -> None:
    Dialogue(Chain(*eras)).play(feature.opening + feature.script)


@pytest.mark.parametrize("eras", [(L,), (M, L), (L, L), (L, M, L)], ids=chain_name)
@pytest.mark.parametrize("feature", MODERN_TO_LEGACY, ids=name_of)
def test_from_a_modern_host_to_a_legacy_server(feature: Feature, eras: Sequence[Era]) -> None:
    Dialogue(Chain(*eras)).play(feature.opening + feature.script)


@pytest.mark.parametrize("eras", [(M,), (L, M), (M, M), (M, L, M)], ids=chain_name)
@pytest.mark.parametrize("feature", LEGACY_TO_MODERN, ids=name_of)
def test_from_a_legacy_host_to_a_modern_server(feature: Feature, eras: Sequence[Era]) -> None:
    Dialogue(Chain(*eras)).play(feature.opening + feature.script)


@pytest.mark.parametrize(
    ("eras", "script"),
    [((M,), CHANGES), ((L, M), CHANGES), ((M, M), CHANGES), ((M, L, M), CHANGES_BY_THREE)],
    ids=["modern", "legacy-modern", "modern-modern", "modern-legacy-modern"],
)
def test_changes_from_a_modern_server_to_a_legacy_host(eras: Sequence[Era], script: str) -> None:
    Dialogue(Chain(*eras)).play(script)


@pytest.mark.parametrize("feature", [*OF_MODERN_ENDS, *OF_LEGACY_ENDS], ids=name_of)
def test_a_loss_is_told_where_there_is_one_and_nowhere_else(feature: Feature) -> None:
    assert has_losses(feature.script) is bool(feature.loss)
    assert bool(feature.clause) is bool(feature.loss)


def test_the_document_has_all_features_and_all_losses() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    told = [row for row in rows if row[0] != "feature" and set(row[0]) != {"-"}]
    features = [*OF_MODERN_ENDS, *OF_LEGACY_ENDS]
    assert told == [[each.name, each.loss or "nothing", each.clause] for each in features]
