"""The runs that the tests against published software share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from published.runs import Runs


@pytest.fixture(scope="session")
def runs() -> Iterator[Runs]:
    with ThreadPoolExecutor(2) as pool:
        yield Runs(pool)
