"""The options of the command as click wants them, and back.

Lives here: the parameters made of options.py, and the invocation made of what click has read, for
sub-commands that start a server. Does not: the options themselves (options.py), the group (cli.py).
"""

import os
from collections.abc import Mapping
from typing import Final, cast

import click
from click.core import ParameterSource

from mcp_era_bridge import options
from mcp_era_bridge.options import Invocation, Option, UsageError

_OF_A_SERVER: Final = (
    options.PROBE_TIMEOUT,
    options.INIT_TIMEOUT,
    options.ROOT,
    options.CWD,
    options.ENV,
)
"""Options that are of use to who starts a server only to look at it."""


def parameter(option: Option) -> click.Option:
    """An option as click knows it."""
    return click.Option(
        list(option.flags),
        help=option.help,
        metavar=option.metavar or None,
        type=click.Choice(option.choices) if option.choices else None,
        default=None if option.is_flag or option.repeatable else option.default or None,
        show_default=bool(option.default),
        is_flag=option.is_flag,
        multiple=option.repeatable,
        envvar=option.variable,
    )


def server_parameters(*, required: bool) -> list[click.Parameter]:
    """What a sub-command takes that starts a server: its command, and a few of our options."""
    command = click.Argument(
        ["command"],
        metavar="COMMAND [ARG]..." if required else "[COMMAND [ARG]...]",
        nargs=-1,
        type=click.UNPROCESSED,
        required=required,
    )
    return [*map(parameter, _OF_A_SERVER), command]


def invocation_of(context: click.Context, environ: Mapping[str, str]) -> Invocation:
    """What the user asked for, in front of the sub-command and behind it, or with variables.

    Raises click.UsageError.
    """
    values = options.from_environment(environ)
    for each in (context.parent, context):
        if each is not None:
            values.update(_given(each))
    words: tuple[str, ...] = context.params["command"]
    try:
        return options.checked(list(words), values)
    except UsageError as error:
        raise click.UsageError(str(error), context) from error


def _given(context: click.Context) -> dict[str, list[str]]:
    """The values that stand on the command line for one context."""
    found: dict[str, list[str]] = {}
    for option in options.OPTIONS:
        if context.get_parameter_source(option.name) is not ParameterSource.COMMANDLINE:
            continue
        value = cast(str | bool | tuple[str, ...], context.params[option.name])
        found[option.name] = list(value) if isinstance(value, tuple) else [str(value)]
    return found


def enter(invocation: Invocation) -> None:
    """Goes where the server is to run."""
    cwd = invocation.text(options.CWD)
    if cwd:
        os.chdir(cwd)


def sound(text: str) -> str:
    """Text in which a path may stand, as JSON can hold it: the system allows bytes of any kind."""
    return os.fsencode(text).decode("utf-8", "replace")
