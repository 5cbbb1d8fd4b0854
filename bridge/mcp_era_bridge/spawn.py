"""Starts a child process and nothing else, before anything slow is imported.

Lives here: the pipes, the search for the executable, the start. Does not: the life of the process
(child.py). Spec 2026-07-28, basic/transports/stdio (the client launches the server).
"""

import os


class Command:
    """What to run: `argv`, in the environment `env`."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.argv = argv
        self.env = env


class Spawned:
    """A running process: `pid` leads its own process group; the descriptors are our ends."""

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr


class NotStarted(Exception):
    """The command cannot be run; the text says why. What to try: start_hints.py."""


def find_executable(command: Command) -> str:
    """The file that `command` runs. Raises NotStarted."""
    name = command.argv[0]
    if os.sep in name:
        if not os.path.exists(name):
            raise NotStarted(f"there is no file {name!r}")
        if os.path.isdir(name) or not os.access(name, os.X_OK):
            raise NotStarted(f"{name!r} is not executable")
        return name
    for folder in os.get_exec_path(command.env):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NotStarted(f"the command {name!r} was not found on the PATH")


def _is_text(path: str) -> bool:
    with open(path, "rb") as file:
        return b"\0" not in file.read(4096)


def spawn(command: Command) -> Spawned:
    """Starts `command` without a shell, in a process group of its own. Raises NotStarted.

    Descriptors other than the three pipes are close-on-exec, so that closing our end is the child's
    end of file. Signals that Python ignores get their default action back.
    """
    import errno
    import signal

    path = find_executable(command)
    ends: list[int] = []
    try:
        for _ in range(3):
            ends += os.pipe()
    except OSError as error:
        for fd in ends:
            os.close(fd)
        raise NotStarted(f"no pipes can be made: {error.strerror}") from error
    child_in, to_child, from_child, child_out, from_stderr, child_err = ends

    def start(path: str, argv: list[str]) -> int:
        return os.posix_spawn(
            path,
            argv,
            command.env,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, child_in, 0),
                (os.POSIX_SPAWN_DUP2, child_out, 1),
                (os.POSIX_SPAWN_DUP2, child_err, 2),
            ],
            setpgroup=0,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )

    try:
        try:
            pid = start(path, command.argv)
        except OSError as error:
            if error.errno != errno.ENOEXEC or not _is_text(path):
                raise
            # A script without a first line that says so is the shell's, as execvp has it.
            pid = start("/bin/sh", ["sh", path, *command.argv[1:]])
    except (OSError, ValueError) as error:
        for fd in (to_child, from_child, from_stderr):
            os.close(fd)
        why = getattr(error, "strerror", None) or str(error)
        raise NotStarted(f"{command.argv[0]!r}: {why}") from error
    finally:
        for fd in (child_in, child_out, child_err):
            os.close(fd)
    return Spawned(pid, to_child, from_child, from_stderr)
