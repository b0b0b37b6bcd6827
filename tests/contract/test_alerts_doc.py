"""docs/alerts.md shows messages as they are sent, entries as they are read, and a check of the signature that works."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from pydantic import SecretStr, TypeAdapter

from pipelines.delivery.channels import build_channels
from pipelines.delivery.channels.webhook import signature
from pipelines.delivery.settings import ChannelSettings
from tests.conftest import REPO
from tests.delivery.golden import FOLDER
from tests.delivery.notices import NOW

PAGE = REPO / "docs" / "alerts.md"
CHANNELS = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
SECTION = next(section for section in CHANNELS if section.startswith("Channels\n"))
SHOWN = {
    "Slack": "slack.txt",
    "Webhook": "webhook.json",
    "Alertmanager": "alertmanager.json",
    "PagerDuty": "pagerduty.json",
}


def block(title: str, language: str) -> str:
    """The one block of a language under a title."""
    (section,) = re.findall(rf"^### {title}$(.*?)(?=^### |\Z)", SECTION, re.DOTALL | re.MULTILINE)
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("title", SHOWN)
def test_what_arrives_is_what_the_page_shows(title: str, request: pytest.FixtureRequest) -> None:
    sent = (FOLDER / SHOWN[title]).read_text()
    shown = block(title, "json" if SHOWN[title].endswith(".json") else "text")
    if request.config.getoption("--update-golden") and sent != shown:
        PAGE.write_text(PAGE.read_text().replace(f"\n{shown}```", f"\n{sent}```"))
        return
    assert shown == sent


@pytest.mark.parametrize("title", [*SHOWN, "E-mail"])
def test_the_entries_of_the_page_are_read(title: str) -> None:
    (entry,) = tomllib.loads(block(title, "toml"))["alerts"]
    settings = TypeAdapter(ChannelSettings).validate_json(json.dumps(entry))
    values = {
        name: "smtp://u:p@mail.example.com" for key, name in entry.items() if key == "url_env" and title == "E-mail"
    }
    values |= {name: "https://example.com/" for key, name in entry.items() if key == "url_env" and title != "E-mail"}
    values |= {name: "secret" for key, name in entry.items() if key in ("secret_env", "token_env", "key_env")}
    assert len(build_channels([settings], values)) == 1
    for key in ChannelSettings.model_fields:
        assert f"`{key}`" in SECTION


def test_the_check_of_the_signature_works() -> None:
    names: dict[str, Any] = {}
    exec(block("Webhook", "python"), names)
    is_genuine, at = names["is_genuine"], NOW.timestamp()
    header = signature(SecretStr("key"), b'{"a":1}', NOW)
    assert is_genuine("key", header, b'{"a":1}', at + 60)
    assert not is_genuine("other", header, b'{"a":1}', at + 60)
    assert not is_genuine("key", header, b'{"a":2}', at + 60)
    assert not is_genuine("key", header, b'{"a":1}', at + 600)
    assert not is_genuine("key", header.replace(f"t={int(at)}", f"t={int(at) + 540}"), b'{"a":1}', at + 600)
