"""A home and a project with the configuration files of all hosts, for tests of `config`.

Lives here: files as people have them, what is found in them, and the fixtures `home` and `run`.
"""

import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click.testing
import pytest

from mcp_era_bridge import cli
from mcp_era_bridge.config_files import BACKUP

DESKTOP = ".config/Claude/claude_desktop_config.json"
CURSOR = ".cursor/mcp.json"
GOOSE = ".config/goose/config.yaml"
CODEX = ".codex/config.toml"

# Files as they are found, by their places under the home or the project.
USER: dict[str, str] = {
    DESKTOP: """{
  "globalShortcut": "",
  "mcpServers": {
    "time": {
      "command": "uvx",
      "args": ["mcp-server-time", "--local-timezone=Europe/Paris"],
      "env": { "API_KEY": "0123456789" }
    },
    "files": {
      "command": "C:\\\\Program Files\\\\nodejs\\\\npx.cmd",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "C:\\\\Users\\\\me\\\\My Documents"
      ]
    }
  }
}
""",
    ".claude.json": """{
  "numStartups": 41,
  "projects": {
    "/one": {
      "mcpServers": {"local": {"type": "stdio", "command": "npx", "args": ["one"], "env": {}}},
      "disabledMcpServers": []
    },
    "/two": {
      "mcpServers": {"off": {"type": "stdio", "command": "npx", "args": ["two"]}},
      "disabledMcpServers": ["off"]
    }
  },
  "mcpServers": {
    "everywhere": {"type": "stdio", "command": "npx", "args": ["-y", "everywhere"]},
    "remote": {"type": "http", "url": "https://example.com/mcp"}
  }
}""",
    ".config/Code/User/mcp.json": """// What VS Code has for this user
{
\t"inputs": [],
\t"servers": {
\t\t"play": { "type": "stdio", "command": "npx", "args": ["@playwright/mcp@latest",], },
\t},
}
""",
    ".config/Code/User/profiles/a1b2/mcp.json": '{"servers": {"profiled": {"command": "x"}}}',
    ".config/Code/User/settings.json": '{"mcp": {"servers": {"older": {"command": "x"}}}}',
    CURSOR: '\ufeff{"mcpServers": {"cur": {"command": "npx", "args": []}}}\r\n',
    ".codeium/windsurf/mcp_config.json": """{"mcpServers": {
  "wind": {"command": "npx", "args": ["-y", "wind"], "disabled": true, "disabledTools": ["x"]},
  "sse": {"serverUrl": "https://example.com/sse"}}}""",
    ".config/zed/settings.json": """// Zed settings
{
  "context_servers": {
    "zed": { "source": "custom", "command": "zed-mcp", "args": [], "env": {} },
    "nested": { "command": { "path": "old-mcp", "args": ["x"], "env": null } },
    "extension": { "source": "extension", "settings": {} },
    "away": { "enabled": false, "command": "x", "args": [] },
  },
}
""",
    CODEX: """model = "gpt-5" # a comment

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
startup_timeout_sec = 20
[mcp_servers.docs.env]
"KEY" = "v"

[mcp_servers.away]
enabled = false
command = "x"

[mcp_servers.figma]
url = "https://example.com/mcp"
""",
    ".gemini/settings.json": """{
  "mcp": {"excluded": ["out"]},
  "mcpServers": {
    "gem": {"command": "python", "args": ["-m", "server"], "cwd": "./x", "trust": false},
    "out": {"command": "x"},
    "stream": {"httpUrl": "https://example.com/mcp"}
  }
}""",
    ".cline/data/settings/cline_mcp_settings.json": """{"mcpServers": {
  "flat": {"command": "node", "args": ["x.js"], "disabled": false, "autoApprove": []},
  "deep": {"transport": {"type": "stdio", "command": "node", "args": ["y.js"]}, "disabled": false}
}}""",
    ".continue/config.yaml": """name: Local Config
version: 1.0.0
schema: v1
mcpServers:
  - name: SQLite MCP # a comment
    command: npx
    args:
      - "-y"
      - mcp-sqlite
  - name: Remote
    type: sse
    url: https://example.com
""",
    ".continue/mcpServers/alone.json": '{"command": "npx", "args": ["alone"]}',
    ".lmstudio/mcp.json": '{"mcpServers": {"lm": {"command": "npx"}}}',
    GOOSE: """GOOSE_PROVIDER: "anthropic"
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    type: builtin
  fetch:
    args: [mcp-server-fetch]
    cmd: uvx
    enabled: true
    envs: {}
    name: fetch
    type: stdio
  away:
    cmd: x
    args: []
    enabled: false
    type: stdio
  web:
    type: streamable_http
    uri: https://example.com
    enabled: true
""",
}
PROJECT: dict[str, str] = {
    ".mcp.json": '{"mcpServers": {"shared": {"command": "npx", "args": ["-y", "shared"]}}}\n',
    ".vscode/mcp.json": '{"servers": {"ws": {"command": "${workspaceFolder}/run", "args": []}}}',
    ".devcontainer/devcontainer.json": """// dev container
{"customizations": {"vscode": {"mcp": {"servers": {"inside": {"command": "npx"}}}}}}""",
    ".continue/mcpServers/play.yaml": "mcpServers:\n- name: Play\n  command: npx\n",
}
# What is found in them: host, scope, server, state.
FOUND = """
claude-desktop user time plain
claude-desktop user files plain
claude-code user everywhere plain
claude-code user remote url
claude-code local local plain
claude-code local off disabled
claude-code project shared plain
vscode user play plain
vscode user profiled plain
vscode user older plain
vscode project ws plain
vscode project inside plain
cursor user cur plain
windsurf user wind disabled
windsurf user sse url
zed user zed plain
zed user nested plain
zed user extension other
zed user away disabled
codex user docs plain
codex user away disabled
codex user figma url
gemini user gem plain
gemini user out disabled
gemini user stream url
cline user flat plain
cline user deep plain
continue user SQLite_MCP plain
continue user Remote url
continue user alone plain
continue project Play plain
lm-studio user lm plain
goose user developer other
goose user fetch plain
goose user away disabled
goose user web url
"""


@dataclass(frozen=True)
class Result:
    """What a command has written, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


class Home:
    """A home and a project, with the files of all hosts or of none."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.bridge = folder / "bin" / "mcp-bridge"
        for made in (self.home, self.project, self.bridge.parent):
            made.mkdir()
        self.bridge.write_text("#!/bin/sh\n")
        self.bridge.chmod(0o755)

    def fill(self) -> None:
        for base, files in ((self.home, USER), (self.project, PROJECT)):
            for name, text in files.items():
                self.put(name, text, base)

    def put(self, name: str, text: str | bytes, base: Path | None = None) -> Path:
        path = (base or self.home) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def contents(self) -> dict[Path, bytes]:
        folders = (self.home, self.project)
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in files if BACKUP not in path.name}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path)
    for name in list(os.environ):
        if name.startswith(("XDG_", "CLAUDE_", "CODEX_", "GEMINI_", "CLINE_", "CONTINUE_", "MCP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home.home))
    monkeypatch.setattr(sys, "argv", [str(home.bridge)])
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(home.project)
    return home


def _runner() -> click.testing.CliRunner:
    make = cast("Callable[..., click.testing.CliRunner]", click.testing.CliRunner)
    # Before 8.2 click has to be told to keep them apart; since then it cannot be told.
    apart = "mix_stderr" in inspect.signature(make).parameters
    return make(mix_stderr=False) if apart else make()


@pytest.fixture
def run(home: Home) -> Run:
    def run(*words: str, input: str | None = None) -> Result:
        done = _runner().invoke(cli.group(), ["config", *words], input=input)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Result(done.exit_code, done.stdout, done.stderr)

    return run


def rows(result: Result) -> list[dict[str, object]]:
    """What `--json` says."""
    found: list[dict[str, object]] = json.loads(result.stdout)
    return found
