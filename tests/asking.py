"""Lines of conversations in which a legacy child asks, for the tables of several tests."""

from conversation import EVERYTHING, meta

FORM = '"params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}'
SAMPLE = '"params":{"messages":[],"maxTokens":9}'
ACCEPTED = '{"action":"accept","content":{"a":1}}'
SAMPLED = '{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}'
ROOTS = '{"roots":[{"uri":"file:///a"}]}'
ELICIT = f'"method":"elicitation/create",{FORM}'
CREATE = f'"method":"sampling/createMessage",{SAMPLE}'
LIST_ROOTS = '"method":"roots/list"'
SHOWN_ROOTS = '"method":"roots/list","params":{}'


def call(
    id: str,
    child_id: int | None,
    *,
    name: str = "t",
    capabilities: str = EVERYTHING,
    more: str = "",
) -> str:
    """A call of the tool `name`; `child_id` is None if it does not reach the child at once."""
    script = (
        f'host  > {{"id":{id},"method":"tools/call",'
        f'"params":{{"name":"{name}",{meta(capabilities, more)}}}}}\n'
    )
    if child_id is not None:
        script += (
            f'child < {{"id":{child_id},"method":"tools/call","params":{{"name":"{name}"}}}}\n'
        )
    return script


def asks(id: str, question: str = ELICIT) -> str:
    """The child asks, and nothing comes of it at once."""
    return f'child > {{"id":{id},{question}}}\n'


def input_required(id: str, state: int, *questions: tuple[str, str]) -> str:
    """A leg is answered with the questions, each given as its key and its text."""
    entries = ",".join(f'"{key}":{{{question}}}' for key, question in questions)
    return (
        f'host  < {{"id":{id},"result":{{"resultType":"input_required",'
        f'"inputRequests":{{{entries}}},"requestState":"$S{state}",$IDENTITY}}}}\n'
    )


def gathered(id: str, state: int, *questions: tuple[str, str]) -> str:
    """The gathering of questions is over and the leg is answered."""
    return "after 0.02\n" + input_required(id, state, *questions)


def retry(
    id: str,
    state: int,
    answers: str | None,
    *,
    name: str = "t",
    capabilities: str = EVERYTHING,
    more: str = "",
) -> str:
    """The next leg of a call of the tool `name`, with the `requestState` number `state`."""
    given = f'"inputResponses":{answers},' if answers is not None else ""
    return (
        f'host  > {{"id":{id},"method":"tools/call","params":{{"name":"{name}",'
        f'"requestState":"$S{state}",{given}{meta(capabilities, more)}}}}}\n'
    )


def answered(id: str, answer: str) -> str:
    """The child gets its answer."""
    return f'child < {{"id":{id},"result":{answer}}}\n'


def done(child_id: int, id: str) -> str:
    """The child answers a call, and the host gets the answer."""
    return f"""
child > {{"id":{child_id},"result":{{"content":[]}}}}
host  < {{"id":{id},"result":{{"content":[],$DONE}}}}
"""
