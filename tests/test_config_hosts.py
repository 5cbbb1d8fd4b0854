"""Where hosts keep their files, on every platform: computed, whatever this one is."""

import pytest

from mcp_era_bridge.config_command import HOSTS as OFFERED
from mcp_era_bridge.config_command import SCOPES as OFFERED_SCOPES
from mcp_era_bridge.config_hosts import HOSTS, LINUX, MACOS, SCOPES, WINDOWS, Surroundings, here

HOME = {LINUX: {"HOME": "/home/u"}, MACOS: {"HOME": "/Users/u"}}
HOME[WINDOWS] = {
    "USERPROFILE": "C:\\Users\\u",
    "APPDATA": "C:\\Users\\u\\AppData\\Roaming",
    "LOCALAPPDATA": "C:\\Users\\u\\AppData\\Local",
}
PROJECT = {LINUX: "/p", MACOS: "/p", WINDOWS: "D:\\p"}

# The first file of each host's user, then one of its project.
USER_FILES = {
    "claude-desktop": (
        "/home/u/.config/Claude/claude_desktop_config.json",
        "/Users/u/Library/Application Support/Claude/claude_desktop_config.json",
        "C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    ),
    "claude-code": ("/home/u/.claude.json", "/Users/u/.claude.json", "C:\\Users\\u\\.claude.json"),
    "vscode": (
        "/home/u/.config/Code/User/mcp.json",
        "/Users/u/Library/Application Support/Code/User/mcp.json",
        "C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json",
    ),
    "cursor": (
        "/home/u/.cursor/mcp.json",
        "/Users/u/.cursor/mcp.json",
        "C:\\Users\\u\\.cursor\\mcp.json",
    ),
    "windsurf": (
        "/home/u/.codeium/windsurf/mcp_config.json",
        "/Users/u/.codeium/windsurf/mcp_config.json",
        "C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json",
    ),
    "zed": (
        "/home/u/.config/zed/settings.json",
        "/Users/u/.config/zed/settings.json",
        "C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json",
    ),
    "codex": (
        "/home/u/.codex/config.toml",
        "/Users/u/.codex/config.toml",
        "C:\\Users\\u\\.codex\\config.toml",
    ),
    "gemini": (
        "/home/u/.gemini/settings.json",
        "/Users/u/.gemini/settings.json",
        "C:\\Users\\u\\.gemini\\settings.json",
    ),
    "cline": (
        "/home/u/.cline/data/settings/cline_mcp_settings.json",
        "/Users/u/.cline/data/settings/cline_mcp_settings.json",
        "C:\\Users\\u\\.cline\\data\\settings\\cline_mcp_settings.json",
    ),
    "continue": (
        "/home/u/.continue/config.yaml",
        "/Users/u/.continue/config.yaml",
        "C:\\Users\\u\\.continue\\config.yaml",
    ),
    "lm-studio": (
        "/home/u/.lmstudio/mcp.json",
        "/Users/u/.lmstudio/mcp.json",
        "C:\\Users\\u\\.lmstudio\\mcp.json",
    ),
    "goose": (
        "/home/u/.config/goose/config.yaml",
        "/Users/u/.config/goose/config.yaml",
        "C:\\Users\\u\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
    ),
}
PROJECT_FILES = {
    "claude-code": ["/p/.mcp.json"],
    "vscode": [
        "/p/.vscode/mcp.json",
        "/p/.vscode/settings.json",
        "/p/.devcontainer/devcontainer.json",
        "/p/.devcontainer.json",
        "/p/.devcontainer/*/devcontainer.json",
    ],
    "cursor": ["/p/.cursor/mcp.json"],
    "zed": ["/p/.zed/settings.json"],
    "codex": ["/p/.codex/config.toml"],
    "gemini": ["/p/.gemini/settings.json"],
    "continue": [f"/p/.continue/mcpServers/*.{ending}" for ending in ("yaml", "yml", "json")],
}
# A variable that moves a file on Linux, and where to.
MOVED = [
    ("claude-desktop", "XDG_CONFIG_HOME", "/x", "/x/Claude/claude_desktop_config.json"),
    ("claude-desktop", "XDG_CONFIG_HOME", "x", USER_FILES["claude-desktop"][0]),
    ("claude-code", "CLAUDE_CONFIG_DIR", "/x", "/x/.claude.json"),
    ("vscode", "XDG_CONFIG_HOME", "/x", "/x/Code/User/mcp.json"),
    ("zed", "XDG_CONFIG_HOME", "/x", "/x/zed/settings.json"),
    ("zed", "FLATPAK_XDG_CONFIG_HOME", "/x", "/x/zed/settings.json"),
    ("codex", "CODEX_HOME", "/x", "/x/config.toml"),
    ("gemini", "GEMINI_CLI_HOME", "/x", "/x/.gemini/settings.json"),
    ("cline", "CLINE_MCP_SETTINGS_PATH", "/x/y.json", "/x/y.json"),
    ("cline", "CLINE_DATA_DIR", "/x", "/x/settings/cline_mcp_settings.json"),
    ("cline", "CLINE_DIR", "/x", "/x/data/settings/cline_mcp_settings.json"),
    ("continue", "CONTINUE_GLOBAL_DIR", "/x", "/x/config.yaml"),
    ("goose", "XDG_CONFIG_HOME", "/x", "/x/goose/config.yaml"),
]


def files(key: str, scope: str, platform: str = LINUX, **environ: str) -> list[str]:
    (host,) = [host for host in HOSTS if host.key == key]
    at = Surroundings(platform, {**HOME[platform], **environ}, PROJECT[platform])
    places = [place for place in host.places(at) if place.scope == scope]
    return [str(place.folder.joinpath(*place.name.split("/"))) for place in places]


def test_every_host_is_in_the_tables_and_offered() -> None:
    keys = [host.key for host in HOSTS]
    assert keys == list(USER_FILES) == list(OFFERED)
    assert SCOPES == OFFERED_SCOPES


@pytest.mark.parametrize("key", USER_FILES)
@pytest.mark.parametrize("platform", [LINUX, MACOS, WINDOWS])
def test_a_users_file_is_where_the_host_has_it(key: str, platform: str) -> None:
    index = [LINUX, MACOS, WINDOWS].index(platform)
    assert files(key, "user", platform)[0] == USER_FILES[key][index]


@pytest.mark.parametrize("key", USER_FILES)
def test_a_projects_files_are_where_the_host_has_them(key: str) -> None:
    expected = PROJECT_FILES.get(key, [])
    assert files(key, "project") == expected
    windows = ["D:" + name.replace("/", "\\") for name in expected]
    assert files(key, "project", WINDOWS) == windows


@pytest.mark.parametrize(("key", "variable", "value", "expected"), MOVED)
def test_a_variable_moves_the_file(key: str, variable: str, value: str, expected: str) -> None:
    assert files(key, "user", LINUX, **{variable: value})[0] == expected


def test_claude_of_the_store_has_a_folder_of_its_own() -> None:
    assert files("claude-desktop", "user", WINDOWS)[1] == (
        "C:\\Users\\u\\AppData\\Local\\Packages\\Claude_*\\LocalCache\\Roaming\\Claude"
        "\\claude_desktop_config.json"
    )


def test_vscode_has_profiles_and_older_settings() -> None:
    found = files("vscode", "user")
    assert "/home/u/.config/Code/User/profiles/*/mcp.json" in found
    assert "/home/u/.config/Code - Insiders/User/settings.json" in found


def test_without_variables_windows_has_its_usual_folders() -> None:
    at = Surroundings(WINDOWS, {"USERPROFILE": "C:\\Users\\u"}, "D:\\p")
    assert str(at.roaming) == "C:\\Users\\u\\AppData\\Roaming"


def test_every_host_says_whose_documentation_its_places_are_from() -> None:
    assert [host.key for host in HOSTS if "documentation" not in (host.places.__doc__ or "")] == []


def test_the_platform_of_this_process_is_known() -> None:
    assert here({}, "/p").platform in (LINUX, MACOS, WINDOWS)
