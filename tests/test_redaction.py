"""Secrets do not get into error messages: design D10."""

import json
from pathlib import Path
from typing import cast

import pytest

from bridge_process import BridgeProcess, host_environment, modern_call
from children import Scripted, legacy
from mcp_era_bridge.redaction import MASK, Redactor
from scripted_child import Object


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("api_key=abc123 next", f"api_key={MASK} next"),
        ("GITHUB_TOKEN: ghp_x, done", f"GITHUB_TOKEN: {MASK}, done"),
        ('{"password": "hunter2", "a": 1}', f'{{"password": "{MASK}", "a": 1}}'),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
        ("sent bearer abc.def to it", f"sent bearer {MASK} to it"),
        ("postgres://me:s3cret@host/db", f"postgres://me:{MASK}@host/db"),
        ("client-secret = 'xyz1 y'", f"client-secret = '{MASK} y'"),
        ("--api-key sk-1234 run", f"--api-key {MASK} run"),
        ("DB_PASS=foobar", f"DB_PASS={MASK}"),
        ("Cookie: session=abcd; a", f"Cookie: {MASK}; a"),
        ("postgres://u:p@ss@host/db", f"postgres://u:{MASK}@host/db"),
        ("Tokens: 512 used", "Tokens: 512 used"),
        ("the key to success", "the key to success"),
        ("tokens used: 12", "tokens used: 12"),
        ("https://host:8080/path@2x.png", "https://host:8080/path@2x.png"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, redacted: str) -> None:
    assert Redactor({}).redact(text) == redacted


def test_a_long_line_of_a_child_that_means_ill_is_looked_through_all_the_same() -> None:
    text = "token-" * 200_000
    assert Redactor({}).redact(text) == text


def test_lines_of_a_secret_that_has_several_are_masked() -> None:
    redact = Redactor({"PRIVATE_KEY": "-----BEGIN-----\nMIIabcdef\n-----END-----"}).redact
    assert redact("got MIIabcdef here") == f"got {MASK} here"


def test_values_of_variables_that_are_called_like_secrets_are_masked_wherever_they_stand() -> None:
    redact = Redactor(
        {
            "XAUTHORITY": "/home/me",
            "MY_API_KEY": "k-12345",
            "DB_PASSWORD": "k-12345-and-more",
            "HOME": "/home/me",
            "KEY": "a",
        }
    ).redact
    assert redact("using k-12345-and-more and k-12345 in /home/me") == (
        f"using {MASK} and {MASK} in /home/me"
    )
    assert redact("a key named a") == "a key named a"


def dying(tmp_path: Path, *options: str) -> Object:
    """The data of the error that a child's end causes which had a secret on its lips."""
    last_words = "cannot log in with k-12345\n"
    child = Scripted(tmp_path, legacy(tools_call=[{"stderr": last_words}, {"exit": 3}]))
    env = {**host_environment(), "SERVICE_TOKEN": "k-12345"}
    with BridgeProcess(child, *options, env=env) as bridge:
        data = bridge.error(modern_call(1))["data"]
        bridge.end()
        assert last_words in bridge.stderr, "the host's own copy is untouched"
    return cast(Object, data)


def test_the_last_words_of_a_child_get_into_the_error_without_its_secrets(tmp_path: Path) -> None:
    assert dying(tmp_path)["stderr"] == [f"cannot log in with {MASK}"]


def test_they_can_be_left_out(tmp_path: Path) -> None:
    assert "stderr" not in json.dumps(dying(tmp_path, "--no-stderr-in-errors"))
