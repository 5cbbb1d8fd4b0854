"""Tools that a legacy child runs as tasks only: translation J.2, J.3."""

import pytest

from asking import ACCEPTED, ELICIT, FORM, asks, done, gathered, retry
from conversation import EVERYTHING, meta, opened, play

clause = pytest.mark.clause

TASKS = '{"tools":{"listChanged":true},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}'
NO_CANCEL = TASKS.replace('"cancel":{},', "")
SHOWN = '{"tools":{"listChanged":true}}'
OPENED = opened(offers=TASKS).replace(
    f'"capabilities":{TASKS},\n         $LISTED', f'"capabilities":{SHOWN},\n         $LISTED'
)
TASK = '"task":{"ttl":3600000}'
MADE = '"task":{"taskId":"T","status":"working","createdAt":"","lastUpdatedAt":"","ttl":1}'


def call(id: str, name: str = "t", more: str = "") -> str:
    """The host calls a tool."""
    return (
        f'host  > {{"id":{id},"method":"tools/call",'
        f'"params":{{"name":"{name}",{meta(EVERYTHING, more)}}}}}\n'
    )


def lists(id: int, cursor: str = "") -> str:
    """We look at the child's tools."""
    params = f',"params":{{"cursor":"{cursor}"}}' if cursor else ""
    return f'child < {{"id":{id},"method":"tools/list"{params}}}\n'


def listed(id: int, *required: str, cursor: str = "") -> str:
    """These of them run as tasks only."""
    tools = ",".join(
        f'{{"name":"{name}","inputSchema":{{}},"execution":{{"taskSupport":"required"}}}}'
        for name in required
    )
    other = '{"name":"plain","inputSchema":{},"execution":{"taskSupport":"optional"}},{"name":"x"}'
    tools = f"{other},{tools}" if tools else other
    following = f',"nextCursor":"{cursor}"' if cursor else ""
    return f'child > {{"id":{id},"result":{{"tools":[{tools}]{following}}}}}\n'


def sent(id: int, name: str = "t", task: bool = True, more: str = "") -> str:
    """The child gets the call."""
    made = f",{TASK}" if task else ""
    return f'child < {{"id":{id},"method":"tools/call","params":{{"name":"{name}"{more}{made}}}}}\n'


def made(id: int, result_id: int) -> str:
    """It makes a task of it, whose result we ask for."""
    return (
        f'child > {{"id":{id},"result":{{{MADE}}}}}\n'
        f'child < {{"id":{result_id},"method":"tasks/result","params":{{"taskId":"T"}}}}\n'
    )


RUNNING = OPENED + call("1") + lists(1) + listed(1, "t") + sent(2) + made(2, 3)
"""A call runs as a task."""
RESULT = (
    'child > {"id":3,"result":{"content":[],'
    '"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"T"}}}}\n'
)


@clause("S-143", "S-46")
def test_a_tool_that_runs_as_a_task_only_is_called_like_any_other() -> None:
    play(RUNNING, RESULT + 'host  < {"id":1,"result":{"content":[],$DONE}}')


def test_its_error_is_the_calls_error() -> None:
    error = '"error":{"code":7,"message":"m"}'
    play(RUNNING, f'child > {{"id":3,{error}}}\nhost  < {{"id":1,{error}}}')


def test_any_other_tool_is_called_plainly_and_the_list_looked_at_once() -> None:
    play(
        OPENED,
        call("1", "plain") + lists(1) + listed(1, "t") + sent(2, "plain", task=False),
        done(2, "1"),
        call("2", "x") + sent(3, "x", task=False),
        call("3") + sent(4),
    )


def test_all_pages_are_looked_at_and_no_cursor_twice() -> None:
    play(
        OPENED,
        call("1") + lists(1),
        listed(1, cursor="a") + lists(2, "a"),
        listed(2, "t", cursor="a") + sent(3),
    )


@pytest.mark.parametrize(
    "answer",
    [
        'child > {"id":1,"error":{"code":1,"message":"m"}}\n',
        'child > {"id":1,"result":{"tools":7}}\n',
        'child > {"id":1,"result":null}\n',
        "after 10\n",
    ],
)
def test_without_a_list_calls_are_plain(answer: str) -> None:
    play(
        OPENED,
        call("1") + lists(1),
        call("2", "u"),
        answer + sent(2, task=False) + sent(3, "u", task=False),
    )


def test_requests_that_are_no_calls_do_not_wait_for_the_list() -> None:
    play(
        OPENED,
        call("1") + lists(1),
        """
host  > {"id":2,"method":"prompts/get","params":{"name":"p",$FULL}}
child < {"id":2,"method":"prompts/get","params":{"name":"p"}}
""",
    )


def test_a_list_that_has_changed_is_looked_at_again() -> None:
    changed = 'child > {"method":"notifications/tools/list_changed"}\n'
    play(RUNNING, changed, call("2", "u") + lists(4) + listed(4, "u") + sent(5, "u"))


@pytest.mark.parametrize("code", [-32601, -32600])
def test_a_plain_call_that_is_refused_is_made_as_a_task_if_it_has_to_be(code: int) -> None:
    refusal = f'"error":{{"code":{code},"message":"no"}}'
    play(
        OPENED,
        call("1", "u") + lists(1) + listed(1, "t") + sent(2, "u", task=False),
        f'child > {{"id":2,{refusal}}}\n' + lists(3),
        listed(3, "t", "u") + sent(4, "u"),
        # If not, the refusal was meant.
        call("2", "v") + sent(5, "v", task=False),
        f'child > {{"id":5,{refusal}}}\n' + lists(6),
        listed(6, "t", "u") + f'host  < {{"id":2,{refusal}}}',
    )


def test_another_error_is_the_answer() -> None:
    error = '"error":{"code":-32602,"message":"no"}'
    play(
        OPENED,
        call("1", "u") + lists(1) + listed(1, "t") + sent(2, "u", task=False),
        f'child > {{"id":2,{error}}}\nhost  < {{"id":1,{error}}}',
    )


def test_a_child_that_makes_no_task_of_it_after_all_has_answered() -> None:
    play(OPENED, call("1") + lists(1) + listed(1, "t") + sent(2), done(2, "1"))


@clause("S-73")
def test_progress_goes_on_under_the_token_of_the_call() -> None:
    token = '"progressToken":"p"'
    play(
        OPENED,
        call("1", more=token)
        + lists(1)
        + listed(1, "t")
        + sent(2, more=',"_meta":{"progressToken":2}')
        + made(2, 3),
        'child > {"method":"notifications/progress","params":{"progressToken":2,"progress":1}}\n'
        'host  < {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n',
        RESULT + 'host  < {"id":1,"result":{"content":[],$DONE}}',
        'child > {"method":"notifications/progress","params":{"progressToken":2,"progress":2}}\n',
    )


RELATED = '"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"T"}}'


@clause("S-55", "S-22")
def test_a_question_of_a_task_names_its_call_and_the_answer_names_the_task() -> None:
    question = ELICIT.removesuffix("}") + f",{RELATED}}}"
    answer = ACCEPTED.removesuffix("}") + f",{RELATED}}}"
    play(
        RUNNING,
        call("2", "plain") + sent(4, "plain", task=False),
        asks('"q"', question),
        gathered("1", 1, ("q", ELICIT)),
        retry("3", 1, f'{{"q":{ACCEPTED}}}') + f'child < {{"id":"q","result":{answer}}}\n',
        RESULT + 'host  < {"id":3,"result":{"content":[],$DONE}}',
    )


CANCEL = 'host  > {"method":"notifications/cancelled","params":{"requestId":1}}\n'


@clause("S-51")
def test_a_task_is_cancelled_as_a_task() -> None:
    play(
        RUNNING,
        CANCEL + 'child < {"id":4,"method":"tasks/cancel","params":{"taskId":"T"}}\n',
        'child > {"id":4,"result":{}}',
        RESULT,
    )


def test_or_left_alone_where_that_is_not_known() -> None:
    running = RUNNING.replace(TASKS, NO_CANCEL)
    play(running, CANCEL, RESULT)


def test_a_task_that_is_made_after_the_cancellation_is_cancelled_then() -> None:
    play(
        OPENED,
        call("1") + lists(1) + listed(1, "t") + sent(2),
        CANCEL,
        f'child > {{"id":2,"result":{{{MADE}}}}}\n'
        'child < {"id":3,"method":"tasks/cancel","params":{"taskId":"T"}}\n',
    )


def test_a_call_cancelled_before_the_list_is_known_is_never_made() -> None:
    play(OPENED, call("1") + lists(1), CANCEL, listed(1, "t"), call("2") + sent(2))


def test_a_parked_task_that_expires_is_cancelled_as_a_task() -> None:
    question = f'"method":"elicitation/create",{FORM.removesuffix("}")},{RELATED}}}'
    play(
        RUNNING,
        asks('"q"', question),
        gathered("1", 1, ("q", ELICIT)),
        "after 600\n"
        + f'child < {{"id":"q","result":{{"action":"cancel",{RELATED}}}}}\n'
        + 'child < {"id":4,"method":"tasks/cancel","params":{"taskId":"T"}}\n',
    )
