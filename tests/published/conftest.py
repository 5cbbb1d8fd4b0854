"""The runs that the tests against published software share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from published.runs import HERE, Command, Runs, python_of


@pytest.fixture(scope="session")
def runs() -> Iterator[Runs]:
    with ThreadPoolExecutor(2) as pool:
        yield Runs(pool)


@pytest.fixture
def legacy_server() -> Command:
    return (python_of("sdk-py1"), str(HERE / "legacy_server.py"))


@pytest.fixture
def modern_server() -> Command:
    return (python_of("sdk-py2"), str(HERE / "modern_server.py"))
