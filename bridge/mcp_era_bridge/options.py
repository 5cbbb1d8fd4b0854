"""The options of the command, declared once, and the quick parser of the run path.

Lives here: every option as data, for this parser and for click alike, and what the user asked for.
Does not: help, sub-commands (cli.py). Imports nothing that takes time: the child is started right
after this.
"""

import os
from collections.abc import Collection, Mapping, Sequence

PREFIX = "MCP_BRIDGE_"
"""Where the variables begin that stand for options; none of them is handed to the child."""

SUBCOMMANDS = ("demo", "probe", "doctor", "config", "completion")
"""Words that are not a server's command unless they come behind `--`."""

COMPLETE = "_MCP_BRIDGE_COMPLETE"
"""The variable with which a shell asks how a word may go on; then there are no arguments."""

EXAMPLE = "mcp-bridge -- python my_server.py"


class UsageError(Exception):
    """The command line cannot be understood; the text says what is wrong and what to try."""


class Option:
    """One option: its flags, the type of its value, and what it is for."""

    def __init__(
        self,
        *flags: str,
        help: str,
        metavar: str = "",
        choices: tuple[str, ...] = (),
        default: str = "",
        is_flag: bool = False,
        seconds: bool = False,
        whole: bool = False,
        repeatable: bool = False,
    ) -> None:
        self.flags = flags
        self.help = help
        self.metavar = metavar
        self.choices = choices
        self.default = default
        self.is_flag = is_flag
        self.seconds = seconds
        self.whole = whole
        self.repeatable = repeatable
        self.name = flags[-1].lstrip("-").replace("-", "_")
        self.variable = PREFIX + self.name.upper()


ERA = Option(
    "--era",
    choices=("auto", "modern", "legacy"),
    default="auto",
    help="The server's era, if it is known: then it is taken for granted.",
)
PROBE_TIMEOUT = Option(
    "--probe-timeout",
    metavar="SECONDS",
    default="5",
    seconds=True,
    help="How long a server may leave the first thing that it is asked (server/discover by a modern"
    " host, initialize by a legacy one) unanswered before it is asked in the other era.",
)
INIT_TIMEOUT = Option(
    "--init-timeout",
    metavar="SECONDS",
    default="60",
    seconds=True,
    help="How long a server may take to answer initialize.",
)
ROOT = Option(
    "--root",
    metavar="URI",
    repeatable=True,
    help="A root (file://...) that a server gets when it asks for roots, whatever the host"
    " declares; may be repeated (in the variable: one a line).",
)
ANSWER_TIMEOUT = Option(
    "--answer-timeout",
    metavar="SECONDS",
    default="600",
    seconds=True,
    help="How long a call waits for a modern host to answer what the server asks, or for a user to"
    " be done at a URL.",
)
MAX_SESSIONS = Option(
    "--max-sessions",
    metavar="N",
    default="2",
    whole=True,
    help="How many processes of a legacy server there may be at once, if a call declares more than"
    " the one that runs was told of.",
)
ONE_PROCESS = Option(
    "--one-process",
    is_flag=True,
    help="Never start a legacy server anew because a call declares more; what it was told of at"
    " first is all that it can use.",
)
STRICT_LOGS = Option(
    "--strict-logs",
    is_flag=True,
    help="Pass a log message on only if every request that is open asked for it.",
)
MAX_PARKED = Option(
    "--max-parked",
    metavar="N",
    default="256",
    whole=True,
    help="How many calls may wait for the host's answers; the questions of more are refused.",
)
MAX_QUESTIONS = Option(
    "--max-questions",
    metavar="N",
    default="1024",
    whole=True,
    help="How many questions of a server may be open; more are refused.",
)
MAX_STREAMS = Option(
    "--max-streams",
    metavar="N",
    default="256",
    whole=True,
    help="How many subscriptions/listen may be open at once; more are refused.",
)
MAX_URIS = Option(
    "--max-uris",
    metavar="N",
    default="4096",
    whole=True,
    help="How many resources may be watched in all; more are left out of the acknowledgement.",
)
NO_CACHE = Option(
    "--no-cache",
    is_flag=True,
    help="Neither read nor write what is remembered of servers from one start to the next.",
)
MAX_REQUESTS = Option(
    "--max-requests",
    metavar="N",
    default="10000",
    whole=True,
    help="How many requests of the host may be open at once; more are refused.",
)
MAX_LINE = Option(
    "--max-line",
    metavar="MIB",
    default="64",
    whole=True,
    help="How long a line may be, in MiB; a longer one fails the request that it belongs to.",
)
NO_STDERR_IN_ERRORS = Option(
    "--no-stderr-in-errors",
    is_flag=True,
    help="Leave the server's last words on stderr out of the errors that its end causes.",
)
LOG_LEVEL = Option(
    "--log-level",
    choices=("debug", "info", "warning", "error"),
    default="warning",
    help="The least severe notes that go to stderr.",
)
LOG_FORMAT = Option(
    "--log-format",
    choices=("console", "json"),
    default="console",
    help="How the notes are written.",
)
CWD = Option(
    "-C",
    "--cwd",
    metavar="DIR",
    help="The server's working directory.",
)
ENV = Option(
    "--env",
    metavar="K=V",
    repeatable=True,
    help="A variable for the server's environment; may be repeated"
    " (in the variable: one K=V a line).",
)

OPTIONS = (
    ERA,
    PROBE_TIMEOUT,
    INIT_TIMEOUT,
    ROOT,
    ANSWER_TIMEOUT,
    MAX_SESSIONS,
    ONE_PROCESS,
    STRICT_LOGS,
    MAX_PARKED,
    MAX_QUESTIONS,
    MAX_STREAMS,
    MAX_URIS,
    NO_CACHE,
    MAX_REQUESTS,
    MAX_LINE,
    NO_STDERR_IN_ERRORS,
    LOG_LEVEL,
    LOG_FORMAT,
    CWD,
    ENV,
)

_BY_FLAG = {flag: option for option in OPTIONS for flag in option.flags}
_TRUE = ("1", "true", "t", "yes", "y", "on")
_FALSE = ("", "0", "false", "f", "no", "n", "off")


class Invocation:
    """What the user asked for: the server's command, and the value of every option."""

    def __init__(self, command: list[str], values: dict[str, list[str]]) -> None:
        self.command = command
        self.values = values

    def text(self, option: Option) -> str:
        """The option's value; the last one counts."""
        return self.values.get(option.name, [option.default])[-1]

    def texts(self, option: Option) -> list[str]:
        """All values of a repeatable option, in order."""
        return self.values.get(option.name, [])

    def seconds(self, option: Option) -> float:
        """The value of an option that is a time, in seconds."""
        return float(self.text(option))

    def whole(self, option: Option) -> int:
        """The value of an option that is a whole number."""
        return int(self.text(option))

    def flag(self, option: Option) -> bool:
        """Whether a flag is set."""
        return self.text(option).lower() in _TRUE

    def child_environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The server's environment: the host's, without our variables, with `--env`."""
        env = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
        for pair in self.texts(ENV):
            name, _, value = pair.partition("=")
            env[name] = value
        return env


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> Invocation | None:
    """Reads the command line of the run path.

    None means that it is for click: help, the version, a sub-command, or a shell that completes a
    word. Raises UsageError.
    """
    if not argv and COMPLETE in environ:
        return None
    values = from_environment(environ)
    given: set[str] = set()
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            if word in SUBCOMMANDS:
                return None
            words.insert(0, word)
            break
        if word in ("--help", "-h", "--version"):
            return None
        option, value = _option(word, words)
        if option.name not in given:
            given.add(option.name)
            values.pop(option.name, None)
        values.setdefault(option.name, []).append(value)
    if not words:
        raise UsageError(f"No server command. Example: {EXAMPLE}")
    if not words[0]:
        raise UsageError(
            "The server command is an empty word: a variable in front of it may be unset."
            f" Example: {EXAMPLE}"
        )
    return checked(words, values, given)


def checked(command: list[str], values: dict[str, list[str]], given: Collection[str]) -> Invocation:
    """What the user asked for, if every value is one for its option. Raises UsageError.

    `given` are the names of the options that the command line has; the others are variables.
    """
    for option in OPTIONS:
        for value in values.get(option.name, ()):
            wrong = _what_is_wrong(option, value)
            if wrong is not None:
                from mcp_era_bridge.usage_hints import for_value

                said = option.flags[-1] if option.name in given else option.variable
                raise UsageError(f"{said}: {value!r} {wrong}{for_value(option, value)}")
    return Invocation(command, values)


def from_environment(environ: Mapping[str, str]) -> dict[str, list[str]]:
    """The values of the options that are given as variables, by the option's name."""
    values: dict[str, list[str]] = {}
    for option in OPTIONS:
        value = environ.get(option.variable)
        if value is not None and (value or option.is_flag):
            values[option.name] = value.splitlines() if option.repeatable else [value]
    return values


def takes_next_word(word: str) -> bool:
    """Whether a word is an option of ours whose value is the word behind it."""
    option = _BY_FLAG.get(word)
    return option is not None and not option.is_flag


def _option(word: str, words: list[str]) -> tuple[Option, str]:
    flag, equals, value = word.partition("=")
    if not word.startswith("--"):
        flag, equals, value = word[:2], word[2:3], word[2:]
    option = _BY_FLAG.get(flag)
    if option is None:
        from mcp_era_bridge.usage_hints import for_unknown_option

        raise UsageError(f"No such option: {flag}{for_unknown_option(word)}")
    if option.is_flag:
        if equals:
            raise UsageError(f"{flag} takes no value: write it without {equals}{value}")
        return option, "1"
    if not equals:
        if not words or words[0] == "--":
            from mcp_era_bridge.usage_hints import for_missing_value

            raise UsageError(f"{flag} needs a value{for_missing_value(option)}")
        value = words.pop(0)
    return option, value


def _what_is_wrong(option: Option, value: str) -> str | None:
    """Why `value` is none for `option`, as the end of a sentence that begins with it."""
    if option.choices and value not in option.choices:
        return f"is none of {', '.join(option.choices)}"
    if option.is_flag and value.lower() not in _TRUE + _FALSE:
        return "is neither 1 nor 0"
    if option.seconds:
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1
        if not 0 < seconds < 1e9:
            return "is no number of seconds above 0"
    if option.whole and not (value.isascii() and value.isdigit() and 0 < int(value) < 10**9):
        return "is no whole number above 0"
    if option is ENV:
        name, equals, _ = value.partition("=")
        if not (name and equals) or "\0" in value:
            return "is not of the form K=V"
    if option is ROOT and not value.startswith("file://"):
        return "is no URI that begins with file://"
    if option is CWD and not (os.path.isdir(value) and os.access(value, os.X_OK)):
        return "is no directory"
    return None
