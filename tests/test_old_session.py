"""The old server's protocol half, over real pipes: what a handshake-era client sees of it.

Lives here: handshake, dispatch, progress, cancellation, questions, logging, the journal. Does not:
tools, resources and prompts (test_old_server.py). Spec 2025-11-25; the clauses head the sections.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_era_bridge.old_session import JsonObject, as_list, as_object
from old_client import OldClient, said

FORMS: JsonObject = {"elicitation": {}}


@pytest.fixture
def fresh() -> Iterator[OldClient]:
    with OldClient() as client:
        yield client


@pytest.fixture
def client(fresh: OldClient) -> OldClient:
    fresh.initialize({})
    return fresh


# basic/lifecycle


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_legacy_version_that_is_asked_for_is_spoken(fresh: OldClient, version: str) -> None:
    assert fresh.initialize({}, version)["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01"])
def test_any_other_version_is_answered_with_the_newest_legacy_one(
    fresh: OldClient, version: str
) -> None:
    assert fresh.initialize({}, version)["protocolVersion"] == "2025-11-25"


def test_initialize_tells_who_the_server_is_and_what_it_can_do(fresh: OldClient) -> None:
    result = fresh.initialize({})
    assert as_object(result["serverInfo"])["name"] == "tea-shop"
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
        "prompts": {},
        "completions": {},
        "logging": {},
    }
    assert isinstance(result["instructions"], str)


def test_a_request_before_initialize_is_refused_and_the_server_stays_up(fresh: OldClient) -> None:
    refusal = {"code": -32602, "message": "Invalid request parameters", "data": ""}
    assert fresh.error("server/discover") == refusal
    assert fresh.error("tools/list") == refusal
    assert fresh.initialize({})["protocolVersion"] == "2025-11-25"


def test_ping_is_answered_before_and_after_initialize(fresh: OldClient) -> None:
    assert fresh.result("ping") == {}
    fresh.initialize({})
    assert fresh.result("ping") == {}


def test_the_server_ends_with_its_input_though_a_call_is_running(client: OldClient) -> None:
    client.call("brew", {"progressToken": "t"}, tea="assam", seconds=3600)
    assert client.next()["method"] == "notifications/progress"
    assert client.end() == []


# basic


def test_an_unknown_method_is_minus_32601(client: OldClient) -> None:
    assert client.error("server/discover")["code"] == -32601


def test_an_unknown_notification_is_ignored(client: OldClient) -> None:
    client.send({"method": "notifications/novelty"})
    assert client.result("ping") == {}


def test_a_line_that_is_no_json_is_answered_without_an_id(client: OldClient) -> None:
    client.write(b"tea, please")
    answer = client.next()
    assert "id" not in answer
    assert as_object(answer["error"])["code"] == -32700


@pytest.mark.parametrize("line", [b"7", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b"{}"])
def test_json_that_is_no_message_is_an_invalid_request(client: OldClient, line: bytes) -> None:
    client.write(line)
    assert as_object(client.next()["error"])["code"] == -32600
    assert client.result("ping") == {}


def test_the_requests_of_a_batch_are_answered_singly(fresh: OldClient) -> None:
    """2025-03-26, basic (Batching)."""
    fresh.initialize({}, "2025-03-26")
    ping = '{"jsonrpc":"2.0","id":"%s","method":"ping"}'
    fresh.write(f"[{ping % 'a'},{ping % 'b'}]".encode())
    assert [fresh.next(), fresh.next()] == [{"id": "a", "result": {}}, {"id": "b", "result": {}}]


def test_string_ids_and_zero_are_given_back_as_they_came(client: OldClient) -> None:
    client.send({"id": "1", "method": "ping"})
    assert client.next()["id"] == "1"
    client.send({"id": 0, "method": "ping"})
    assert client.next()["id"] == 0


# basic/utilities: progress, cancellation


@pytest.mark.parametrize("token", ["t1", 0])
def test_a_slow_call_reports_rising_progress_under_its_token(
    client: OldClient, token: str | int
) -> None:
    request_id = client.call("brew", {"progressToken": token}, tea="assam", seconds=0)
    notes = [client.next() for _ in range(4)]
    assert {note["method"] for note in notes} == {"notifications/progress"}
    params = [as_object(note["params"]) for note in notes]
    assert [p["progress"] for p in params] == [1, 2, 3, 4]
    assert all(p["progressToken"] == token and p["total"] == 4 and p["message"] for p in params)
    assert said(client.answer_to(request_id)) == "A pot of assam."


def test_without_a_token_there_is_no_progress(client: OldClient) -> None:
    assert said(client.answer_to(client.call("brew", tea="assam", seconds=0))) == "A pot of assam."


def test_a_fast_call_is_answered_while_a_slow_one_runs(client: OldClient) -> None:
    client.call("brew", {"progressToken": 1}, tea="assam", seconds=3600)
    assert client.next()["method"] == "notifications/progress"  # it runs, for an hour
    client.answer_to(client.call("price", tea="assam"))


def test_a_cancelled_call_is_not_answered(client: OldClient) -> None:
    request_id = client.call("brew", {"progressToken": 1}, tea="assam", seconds=3600)
    assert client.next()["method"] == "notifications/progress"
    client.send({"method": "notifications/cancelled", "params": {"requestId": request_id}})
    assert client.result("ping") == {}
    assert client.end() == []


@pytest.mark.parametrize("params", [{}, {"requestId": 99}, {"requestId": None}])
def test_a_cancellation_of_nothing_is_ignored(client: OldClient, params: JsonObject) -> None:
    client.send({"method": "notifications/cancelled", "params": params})
    assert client.result("ping") == {}


# client/elicitation, client/sampling, client/roots


def asked(client: OldClient, request_id: int, method: str) -> tuple[object, JsonObject]:
    question = client.next()
    assert question["method"] == method and question["id"] != request_id
    return question["id"], as_object(question.get("params"))


@pytest.mark.parametrize("modes", [{}, {"form": {}}, {"form": {}, "url": {}}])
def test_an_order_asks_how_you_like_it(fresh: OldClient, modes: JsonObject) -> None:
    fresh.initialize({"elicitation": modes})
    request_id = fresh.call("order", tea="assam")
    question_id, params = asked(fresh, request_id, "elicitation/create")
    assert "assam" in str(params["message"])
    assert list(as_object(as_object(params["requestedSchema"])["properties"])) == ["size", "milk"]
    content = {"size": "pot", "milk": True}
    fresh.send({"id": question_id, "result": {"action": "accept", "content": content}})
    assert said(fresh.answer_to(request_id)) == "One pot of assam, with milk."


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_person_who_does_not_answer_gets_no_tea(fresh: OldClient, action: str) -> None:
    fresh.initialize(FORMS)
    request_id = fresh.call("order", tea="assam")
    question_id, _ = asked(fresh, request_id, "elicitation/create")
    fresh.send({"id": question_id, "result": {"action": action}})
    assert said(fresh.answer_to(request_id)) == f"Nothing was ordered: the answer was {action}."


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
def test_who_cannot_show_forms_is_not_asked(fresh: OldClient, capabilities: JsonObject) -> None:
    fresh.initialize(capabilities)
    assert "cannot be asked" in said(fresh.answer_to(fresh.call("order", tea="assam")))


WORDS = {"type": "text", "text": "Sencha."}


@pytest.mark.parametrize("content", [WORDS, [WORDS]], ids=["one block", "a list of blocks"])
def test_a_recommendation_asks_the_clients_model(fresh: OldClient, content: object) -> None:
    fresh.initialize({"sampling": {}})
    request_id = fresh.call("recommend")
    question_id, params = asked(fresh, request_id, "sampling/createMessage")
    assert isinstance(params["maxTokens"], int)
    assert as_object(as_list(params["messages"])[0])["role"] == "user"
    answer = {"role": "assistant", "content": content, "model": "m-1"}
    fresh.send({"id": question_id, "result": answer})
    assert said(fresh.answer_to(request_id)) == "m-1 recommends: Sencha."


def test_without_sampling_the_recommendation_is_the_shops_own(client: OldClient) -> None:
    assert "We recommend the assam" in said(client.answer_to(client.call("recommend")))


def test_the_clients_roots_are_listed(fresh: OldClient) -> None:
    fresh.initialize({"roots": {"listChanged": True}})
    request_id = fresh.call("folders")
    question_id, params = asked(fresh, request_id, "roots/list")
    assert params == {}
    roots = [{"uri": "file:///tea"}, {"uri": "file:///cups", "name": "Cups"}]
    fresh.send({"id": question_id, "result": {"roots": roots}})
    assert said(fresh.answer_to(request_id)) == "file:///tea\nfile:///cups"


def test_without_roots_nothing_is_asked(client: OldClient) -> None:
    assert said(client.answer_to(client.call("folders"))) == "Your client shows us no folders."


@pytest.mark.parametrize(
    ("tool", "method"),
    [
        ("order", "elicitation/create"),
        ("recommend", "sampling/createMessage"),
        ("folders", "roots/list"),
    ],
)
def test_an_error_for_an_answer_means_that_the_client_declined(
    fresh: OldClient, tool: str, method: str
) -> None:
    fresh.initialize({**FORMS, "sampling": {}, "roots": {}})
    request_id = fresh.call(tool, tea="assam")
    question_id, _ = asked(fresh, request_id, method)
    fresh.send({"id": question_id, "error": {"code": -1, "message": "not today"}})
    words = "Nothing was done. The client declined: not today"
    assert said(fresh.answer_to(request_id)) == words


def test_two_questions_are_open_at_once_and_each_call_gets_its_own_answer(fresh: OldClient) -> None:
    fresh.initialize(FORMS)
    first = fresh.call("order", tea="assam")
    first_question, _ = asked(fresh, first, "elicitation/create")
    second = fresh.call("order", tea="sencha")
    second_question, _ = asked(fresh, second, "elicitation/create")
    for request_id, question_id, size in (
        (second, second_question, "cup"),
        (first, first_question, "pot"),
    ):
        result = {"action": "accept", "content": {"size": size}}
        fresh.send({"id": question_id, "result": result})
        assert said(fresh.answer_to(request_id)).startswith(f"One {size} of")


def test_a_call_that_is_cancelled_while_it_asks_withdraws_its_question(fresh: OldClient) -> None:
    fresh.initialize(FORMS)
    request_id = fresh.call("order", tea="assam")
    question_id, _ = asked(fresh, request_id, "elicitation/create")
    fresh.send({"method": "notifications/cancelled", "params": {"requestId": request_id}})
    withdrawal = {"method": "notifications/cancelled", "params": {"requestId": question_id}}
    assert fresh.next() == withdrawal
    fresh.send({"id": question_id, "result": {"action": "cancel"}})  # too late, and harmless
    assert fresh.end() == []


# server/utilities/logging


def test_only_log_messages_of_the_level_or_worse_are_sent(client: OldClient) -> None:
    client.answer_to(client.call("price", tea="assam"))  # info, but warning is where it starts
    request_id = client.call("refund")
    note = client.next()
    assert note["method"] == "notifications/message"
    assert as_object(note["params"])["level"] == "error"
    client.answer_to(request_id)
    assert client.result("logging/setLevel", {"level": "info"}) == {}
    request_id = client.call("price", tea="assam")
    assert as_object(client.next()["params"])["level"] == "info"
    client.answer_to(request_id)
    client.answer_to(client.call("brew", tea="assam", seconds=0))  # debug only
    client.result("logging/setLevel", {"level": "critical"})
    client.answer_to(client.call("refund"))


def test_a_level_that_does_not_exist_is_minus_32602(client: OldClient) -> None:
    assert client.error("logging/setLevel", {"level": "loud"})["code"] == -32602


# --journal


def test_the_journal_holds_every_message_in_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"dir": "in", "message": "from an earlier run"}\n')
    with OldClient("--journal", str(path)) as client:
        client.initialize(FORMS)
        request_id = client.call("order", tea="assam")
        question_id, _ = asked(client, request_id, "elicitation/create")
        client.send({"id": question_id, "result": {"action": "cancel"}})
        client.answer_to(request_id)
        # Read while the server is up: an entry is there as soon as its line is.
        entries = [as_object(json.loads(line)) for line in path.read_text().splitlines()][1:]
        assert client.end() == []
    messages = [as_object(entry["message"]) for entry in entries]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert [
        (entry["dir"], message.get("method", message.get("id")))
        for entry, message in zip(entries, messages, strict=True)
    ] == [
        ("in", "initialize"),
        ("out", 1),
        ("in", "notifications/initialized"),
        ("in", "tools/call"),
        ("out", "elicitation/create"),
        ("in", question_id),
        ("out", request_id),
    ]
