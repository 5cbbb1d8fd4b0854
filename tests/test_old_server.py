"""The old server's shop, over real pipes: tools, resources, prompts and completions.

Lives here: what old_server.py answers. Does not: the protocol under it (test_old_session.py).
Spec 2025-11-25; the clauses head the sections.
"""

import json
from collections.abc import Iterator

import pytest

from mcp_era_bridge.old_session import JsonObject, as_list, as_object
from old_client import OldClient, said


@pytest.fixture
def client() -> Iterator[OldClient]:
    with OldClient() as client:
        client.initialize({})
        yield client


# server/tools


def test_the_price_comes_structured_as_its_output_schema_says(client: OldClient) -> None:
    tools = {
        as_object(t)["name"]: as_object(t) for t in as_list(client.result("tools/list")["tools"])
    }
    assert all(as_object(tool["inputSchema"])["type"] == "object" for tool in tools.values())
    required = as_object(tools["price"]["outputSchema"])["required"]
    result = as_object(client.answer_to(client.call("price", tea="sencha", cups=3))["result"])
    bill = {"tea": "sencha", "cups": 3, "pence": 840}
    assert result["structuredContent"] == bill
    assert list(bill) == required
    assert json.loads(said({"result": result})) == bill


def test_an_unknown_tool_is_a_protocol_error(client: OldClient) -> None:
    assert client.error("tools/call", {"name": "coffee"}) == {
        "code": -32602,
        "message": "Unknown tool: coffee",
    }


@pytest.mark.parametrize(
    "arguments",
    [{}, {"tea": "coffee"}, {"tea": ["assam"]}, {"tea": "assam", "cups": -1}],
    ids=["none", "unknown", "list", "negative"],
)
def test_wrong_arguments_are_a_tool_error_that_a_model_can_read(
    client: OldClient, arguments: JsonObject
) -> None:
    result = client.result("tools/call", {"name": "price", "arguments": arguments})
    assert result["isError"] is True


def test_a_tool_that_fails_says_so_in_its_result(client: OldClient) -> None:
    client.result("logging/setLevel", {"level": "emergency"})
    answer = client.answer_to(client.call("refund"))
    assert as_object(answer["result"])["isError"] is True
    assert "jammed" in said(answer)


def test_opening_the_cellar_changes_the_tool_list_and_tells_once(client: OldClient) -> None:
    request_id = client.call("cellar", open=True)
    assert client.next() == {"method": "notifications/tools/list_changed"}
    client.answer_to(request_id)
    assert "vintage" in json.dumps(client.result("tools/list"))
    assert "pu-erh" in said(client.answer_to(client.call("vintage")))
    client.answer_to(client.call("cellar", open=True))  # no change, no notification
    request_id = client.call("cellar", open=False)
    assert client.next() == {"method": "notifications/tools/list_changed"}
    client.answer_to(request_id)
    assert "vintage" not in json.dumps(client.result("tools/list"))


# server/resources


def test_resources_and_a_template_are_listed_and_can_be_read(client: OldClient) -> None:
    listed = [as_object(r) for r in as_list(client.result("resources/list")["resources"])]
    assert [r["uri"] for r in listed] == ["tea://menu", "tea://stock"]
    templates = as_list(client.result("resources/templates/list")["resourceTemplates"])
    assert as_object(templates[0])["uriTemplate"] == "tea://leaf/{tea}"
    for uri in ("tea://menu", "tea://stock", "tea://leaf/assam"):
        contents = as_list(client.result("resources/read", {"uri": uri})["contents"])
        assert as_object(contents[0])["uri"] == uri
        assert as_object(contents[0])["text"]


@pytest.mark.parametrize("method", ["resources/read", "resources/subscribe"])
@pytest.mark.parametrize("uri", ["tea://coffee", "tea://leaf/coffee", "assam", None])
def test_a_missing_resource_is_minus_32002(client: OldClient, method: str, uri: object) -> None:
    error = client.error(method, {"uri": uri})
    assert error == {"code": -32002, "message": "Resource not found", "data": {"uri": uri}}


def test_a_change_is_told_to_who_subscribed_until_they_unsubscribe(client: OldClient) -> None:
    client.answer_to(client.call("restock", tea="assam"))  # nobody subscribed yet
    assert client.result("resources/subscribe", {"uri": "tea://stock"}) == {}
    request_id = client.call("restock", tea="assam", grams=50)
    params = {"uri": "tea://stock"}
    assert client.next() == {"method": "notifications/resources/updated", "params": params}
    client.answer_to(request_id)
    stock = as_object(as_list(client.result("resources/read", params)["contents"])[0])["text"]
    assert json.loads(str(stock))["assam"] == 650
    assert client.result("resources/unsubscribe", params) == {}
    client.answer_to(client.call("restock", tea="assam"))


# server/prompts, server/utilities/completion


def test_a_prompt_is_listed_with_its_argument_and_filled_in(client: OldClient) -> None:
    prompt = as_object(as_list(client.result("prompts/list")["prompts"])[0])
    assert prompt["name"] == "pairing"
    assert as_object(as_list(prompt["arguments"])[0])["name"] == "tea"
    result = client.result("prompts/get", {"name": "pairing", "arguments": {"tea": "assam"}})
    message = as_object(as_list(result["messages"])[0])
    assert message["role"] == "user"
    assert "assam" in str(as_object(message["content"])["text"])


@pytest.mark.parametrize(
    "params",
    [{"name": "coffee"}, {"name": "pairing"}, {"name": "pairing", "arguments": {"tea": []}}],
    ids=["unknown prompt", "no argument", "wrong argument"],
)
def test_a_prompt_that_cannot_be_filled_in_is_minus_32602(
    client: OldClient, params: JsonObject
) -> None:
    assert client.error("prompts/get", params)["code"] == -32602


@pytest.mark.parametrize(
    "ref",
    [
        {"type": "ref/prompt", "name": "pairing"},
        {"type": "ref/resource", "uri": "tea://leaf/{tea}"},
    ],
    ids=["prompt", "template"],
)
def test_the_tea_is_completed(client: OldClient, ref: JsonObject) -> None:
    params: JsonObject = {"ref": ref, "argument": {"name": "tea", "value": "d"}}
    assert client.result("completion/complete", params) == {
        "completion": {"values": ["darjeeling", "dragonwell"], "total": 2, "hasMore": False}
    }


def test_completing_what_is_not_there_is_minus_32602(client: OldClient) -> None:
    ref = {"type": "ref/prompt", "name": "coffee"}
    params: JsonObject = {"ref": ref, "argument": {"name": "tea", "value": "d"}}
    assert client.error("completion/complete", params)["code"] == -32602
