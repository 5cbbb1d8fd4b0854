"""Where every host keeps its servers, on every platform.

Lives here: the files' places, the keys inside of them, and whose documentation says so. Does not:
reading them (config_files.py, config_servers.py). Paths are made for the platform that is asked
for, not for the one that this runs on.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from mcp_era_bridge.config_servers import Where

LINUX, MACOS, WINDOWS = "linux", "macos", "windows"
USER, PROJECT, LOCAL = "user", "project", "local"
SCOPES = (USER, PROJECT, LOCAL)
"""`local` is what Claude Code calls a server that its user's file has for one project."""

_MCP_SERVERS = (Where(("mcpServers",)),)
_CLAUDE_CODE = (
    Where(("mcpServers",)),
    Where(("projects", "*", "mcpServers"), scope=LOCAL, excluded=("disabledMcpServers",)),
)
_VSCODE = (Where(("servers",)),)
_VSCODE_SETTINGS = (Where(("mcp", "servers")),)
_DEV_CONTAINER = (Where(("customizations", "vscode", "mcp", "servers")),)
_ZED = (Where(("context_servers",)),)
_CODEX = (Where(("mcp_servers",)),)
_GEMINI = (Where(("mcpServers",), excluded=("mcp", "excluded")),)
_CONTINUE_YAML = (Where(("mcpServers",), named_by="name"),)
_CONTINUE_JSON = (*_CLAUDE_CODE, Where((), single=True))
_GOOSE = (Where(("extensions",)),)


@dataclass(frozen=True)
class Surroundings:
    """The platform, its environment variables, and the folder of the project that is looked at."""

    platform: str
    environ: Mapping[str, str]
    project: str

    @property
    def home(self) -> PurePath:
        """The user's own folder."""
        if self.platform == WINDOWS:
            return PureWindowsPath(self.environ.get("USERPROFILE") or "C:\\")
        return PurePosixPath(self.environ.get("HOME") or "/")

    @property
    def roaming(self) -> PurePath:
        """Where programs keep a user's settings."""
        if self.platform == WINDOWS:
            appdata = self.environ.get("APPDATA")
            return PureWindowsPath(appdata) if appdata else self.home / "AppData" / "Roaming"
        if self.platform == MACOS:
            return self.home / "Library" / "Application Support"
        return self.xdg

    @property
    def xdg(self) -> PurePath:
        """The folder of the freedesktop.org specification, which counts if it is absolute."""
        given = self.environ.get("XDG_CONFIG_HOME", "")
        return PurePosixPath(given) if given.startswith("/") else self.home / ".config"

    def variable(self, name: str, default: PurePath) -> PurePath:
        """The folder that a variable names."""
        value = self.environ.get(name, "").strip()
        return self.path(value) if value else default

    def path(self, text: str) -> PurePath:
        """A path of the platform."""
        return PureWindowsPath(text) if self.platform == WINDOWS else PurePosixPath(text)


def here(environ: Mapping[str, str], project: str) -> Surroundings:
    """The surroundings of this process."""
    known = {"darwin": MACOS, "win32": WINDOWS}
    return Surroundings(known.get(sys.platform, LINUX), environ, project)


@dataclass(frozen=True)
class Place:
    """Files of a host: `name` under `folder`, where `*` stands for any name.

    `elsewhere` says that the servers do not run on this machine.
    """

    scope: str
    folder: PurePath
    name: str
    where: tuple[Where, ...]
    elsewhere: bool = False

    @property
    def format(self) -> str:
        """`json`, `toml` or `yaml`."""
        ending = self.name.rpartition(".")[2]
        return "yaml" if ending == "yml" else ending


@dataclass(frozen=True)
class Host:
    """A host, by the name that options use and by its own."""

    key: str
    title: str
    places: Callable[[Surroundings], Iterable[Place]]


def _claude_desktop(at: Surroundings) -> Iterable[Place]:
    """MCP documentation, "Connect to local MCP servers"; for Linux: MCP Python SDK, mcp.cli.claude.

    The package of the Microsoft Store has its files in a folder of its own.
    """
    yield Place(USER, at.roaming / "Claude", "claude_desktop_config.json", _MCP_SERVERS)
    if at.platform == WINDOWS:
        local = at.variable("LOCALAPPDATA", at.home / "AppData" / "Local")
        name = "Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"
        yield Place(USER, local / "Packages", name, _MCP_SERVERS)


def _claude_code(at: Surroundings) -> Iterable[Place]:
    """Claude Code documentation, "Connect Claude Code to tools via MCP" and "Settings"."""
    folder = at.variable("CLAUDE_CONFIG_DIR", at.home)
    yield Place(USER, folder, ".claude.json", _CLAUDE_CODE)
    yield Place(PROJECT, at.path(at.project), ".mcp.json", _MCP_SERVERS)


def _vscode(at: Surroundings) -> Iterable[Place]:
    """VS Code documentation, "MCP configuration reference", "Use MCP servers" and "Settings".

    Before 1.102 the servers were in settings.json, under `mcp`.
    """
    for product in ("Code", "Code - Insiders", "VSCodium"):
        user = at.roaming / product / "User"
        yield Place(USER, user, "mcp.json", _VSCODE)
        yield Place(USER, user, "profiles/*/mcp.json", _VSCODE)
        yield Place(USER, user, "settings.json", _VSCODE_SETTINGS)
    project = at.path(at.project)
    yield Place(PROJECT, project, ".vscode/mcp.json", _VSCODE)
    yield Place(PROJECT, project, ".vscode/settings.json", _VSCODE_SETTINGS)
    for name in (
        ".devcontainer/devcontainer.json",
        ".devcontainer.json",
        ".devcontainer/*/devcontainer.json",
    ):
        yield Place(PROJECT, project, name, _DEV_CONTAINER, elsewhere=True)


def _cursor(at: Surroundings) -> Iterable[Place]:
    """Cursor documentation, "Model Context Protocol"."""
    yield Place(USER, at.home, ".cursor/mcp.json", _MCP_SERVERS)
    yield Place(PROJECT, at.path(at.project), ".cursor/mcp.json", _MCP_SERVERS)


def _windsurf(at: Surroundings) -> Iterable[Place]:
    """Windsurf documentation, "Cascade MCP Integration"."""
    yield Place(USER, at.home, ".codeium/windsurf/mcp_config.json", _MCP_SERVERS)


def _zed(at: Surroundings) -> Iterable[Place]:
    """Zed documentation, "Model Context Protocol" and "Configuring Zed"; source, crates/paths."""
    if at.platform == WINDOWS:
        folder = at.roaming / "Zed"
    elif at.platform == MACOS:
        folder = at.home / ".config" / "zed"
    else:
        folder = at.variable("FLATPAK_XDG_CONFIG_HOME", at.xdg) / "zed"
    yield Place(USER, folder, "settings.json", _ZED)
    yield Place(PROJECT, at.path(at.project), ".zed/settings.json", _ZED)


def _codex(at: Surroundings) -> Iterable[Place]:
    """Codex documentation, "Model Context Protocol" and docs/config.md of its repository."""
    folder = at.variable("CODEX_HOME", at.home / ".codex")
    yield Place(USER, folder, "config.toml", _CODEX)
    yield Place(PROJECT, at.path(at.project), ".codex/config.toml", _CODEX)


def _gemini(at: Surroundings) -> Iterable[Place]:
    """Gemini CLI documentation, "MCP servers with Gemini CLI" and "Configuration"."""
    folder = at.variable("GEMINI_CLI_HOME", at.home)
    yield Place(USER, folder, ".gemini/settings.json", _GEMINI)
    yield Place(PROJECT, at.path(at.project), ".gemini/settings.json", _GEMINI)


def _cline(at: Surroundings) -> Iterable[Place]:
    """Cline documentation, "MCP" and "Config"; source, mcp-settings-legacy-migration.ts.

    Its extension kept the file among those of VS Code before all its parts shared one.
    """
    name = "cline_mcp_settings.json"
    explicit = at.environ.get("CLINE_MCP_SETTINGS_PATH", "").strip()
    data = at.variable("CLINE_DATA_DIR", at.variable("CLINE_DIR", at.home / ".cline") / "data")
    if explicit:
        path = at.path(explicit)
        yield Place(USER, path.parent, path.name, _MCP_SERVERS)
    yield Place(USER, data, f"settings/{name}", _MCP_SERVERS)
    yield Place(USER, at.home, ".cline/mcp.json", _MCP_SERVERS)
    for product in ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"):
        storage = at.roaming / product / "User" / "globalStorage" / "saoudrizwan.claude-dev"
        yield Place(USER, storage, f"settings/{name}", _MCP_SERVERS)


def _continue(at: Surroundings) -> Iterable[Place]:
    """Continue documentation, "Model Context Protocol"; source, core/context/mcp/json."""
    folder = at.variable("CONTINUE_GLOBAL_DIR", at.home / ".continue")
    yield Place(USER, folder, "config.yaml", _CONTINUE_YAML)
    project = at.path(at.project) / ".continue"
    for scope, base in ((USER, folder), (PROJECT, project)):
        yield Place(scope, base, "mcpServers/*.yaml", _CONTINUE_YAML)
        yield Place(scope, base, "mcpServers/*.yml", _CONTINUE_YAML)
        yield Place(scope, base, "mcpServers/*.json", _CONTINUE_JSON)


def _lm_studio(at: Surroundings) -> Iterable[Place]:
    """LM Studio documentation, "Use MCP Servers"; its older folder: bug tracker, issue 1371."""
    yield Place(USER, at.home, ".lmstudio/mcp.json", _MCP_SERVERS)
    yield Place(USER, at.home, ".cache/lm-studio/mcp.json", _MCP_SERVERS)


def _goose(at: Surroundings) -> Iterable[Place]:
    """goose documentation, "Configuration Overview"."""
    if at.platform == WINDOWS:
        yield Place(USER, at.roaming / "Block" / "goose" / "config", "config.yaml", _GOOSE)
    elif at.platform == MACOS:
        yield Place(USER, at.home / ".config" / "goose", "config.yaml", _GOOSE)
    else:
        yield Place(USER, at.xdg / "goose", "config.yaml", _GOOSE)


HOSTS = (
    Host("claude-desktop", "Claude Desktop", _claude_desktop),
    Host("claude-code", "Claude Code", _claude_code),
    Host("vscode", "VS Code", _vscode),
    Host("cursor", "Cursor", _cursor),
    Host("windsurf", "Windsurf", _windsurf),
    Host("zed", "Zed", _zed),
    Host("codex", "Codex", _codex),
    Host("gemini", "Gemini CLI", _gemini),
    Host("cline", "Cline", _cline),
    Host("continue", "Continue", _continue),
    Host("lm-studio", "LM Studio", _lm_studio),
    Host("goose", "goose", _goose),
)
