"""A guard that ends the children of a bridge that could not do it itself.

Lives here: the guard process and the pipe that it listens on. Does not: the orderly end (child.py).
A bridge that is killed has no last words, and a child may ignore the end of its input. So a shell
with one line to run waits for the end of a pipe whose writing end only the bridge holds. It is told
which process groups there are; when the pipe ends it terminates those that are left, and kills what
does not go. The parent-death signal of Linux will not do: it follows the thread, not the process.
Imports nothing that takes time: the guard is there before the child.
"""

import os

_SCRIPT = """
trap '' TERM INT HUP
left=
while read -r line; do left=$line; done
for group in $left; do kill -s TERM -- "-$group"; done
[ -n "$left" ] && sleep 1
for group in $left; do kill -s KILL -- "-$group"; done
""".strip()


class Guard:
    """The bridge's end of the pipe. Without a shell there is no guard, and all else goes on."""

    def __init__(self) -> None:
        self._fd: int | None = None
        try:
            listen, self._fd = os.pipe()
        except OSError:
            return
        arguments = ["sh", "-c", _SCRIPT, "mcp-bridge-guard"]
        actions = [
            (os.POSIX_SPAWN_DUP2, listen, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        environment = {"PATH": os.defpath}
        try:
            try:
                # Of its own session: whoever ends the bridge's group or terminal leaves it alone.
                os.posix_spawn("/bin/sh", arguments, environment, file_actions=actions, setsid=True)
            except NotImplementedError:
                os.posix_spawn("/bin/sh", arguments, environment, file_actions=actions, setpgroup=0)
        except OSError:
            os.close(self._fd)
            self._fd = None
        finally:
            os.close(listen)

    def watch(self, *groups: int) -> None:
        """These process groups are to be ended with the bridge, and no others."""
        if self._fd is None:
            return
        try:
            os.write(self._fd, b"%b\n" % " ".join(map(str, groups)).encode())
        except OSError:
            self._fd = None  # somebody has ended the guard
