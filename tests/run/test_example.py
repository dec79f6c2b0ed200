"""strad.example.yaml and its schema: what they promise holds."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from demo.run.settings import ROOT
from shared.contracts.config import GOOGLE_ISSUER, Config
from shared.contracts.secrets import secrets_of
from shared.settings import Environment, read_config

EXAMPLE = ROOT / "strad.example.yaml"
SCHEMA = ROOT / "docs" / "strad.schema.json"


def read(path: Path, variables: dict[str, str]) -> tuple[Config | None, Environment]:
    env = Environment(variables)
    return read_config(env, path), env


def schema() -> dict[str, Any]:
    return dict(json.loads(SCHEMA.read_text()))


def test_the_example_has_no_mistake() -> None:
    config, env = read(EXAMPLE, {})
    assert env.mistakes == []
    assert config is not None
    assert config.provider.issuer == GOOGLE_ISSUER
    secrets = {ref.env: "dummy" for _, ref in secrets_of(config) if ref.env}
    assert secrets.keys() == {"STRAD_OIDC_CLIENT_SECRET", "TICKETS_TOKEN"}
    env = Environment(secrets)
    for where, ref in secrets_of(config):
        env.secret(ref, where)
    assert env.mistakes == []


def test_a_missing_secret_of_the_example_is_named() -> None:
    config, env = read(EXAMPLE, {})
    assert config is not None
    for where, ref in secrets_of(config):
        env.secret(ref, where)
    assert [mistake.where for mistake in env.mistakes] == [
        "provider.client_secret",
        "servers.1.headers.Authorization",
    ]


def test_every_setting_of_the_example_survives_a_round_trip() -> None:
    """A key under the wrong parent would be refused; one that does nothing would be lost here."""
    config, _ = read(EXAMPLE, {})
    assert config is not None
    wiki, tickets, budget = config.servers
    assert wiki.access.everyone
    assert tickets.tools.permits("ticket_open")
    assert not tickets.tools.permits("ticket_delete")
    assert not tickets.tools.permits("unheard_of")
    assert budget.timeout == 120
    assert budget.tools.each["approve"].read_only is False


def test_the_schema_for_editors_is_current() -> None:
    assert schema() == Config.model_json_schema(), "run: make schema"


@pytest.mark.parametrize("path", [EXAMPLE, ROOT / "demo" / "strad.yaml"], ids=["example", "demo"])
def test_an_editor_finds_no_mistake_where_strad_finds_none(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text()), schema())


def test_an_editor_sees_a_misspelt_setting() -> None:
    value = yaml.safe_load(EXAMPLE.read_text())
    value["servers"][1]["tools"]["denny"] = ["x"]
    with pytest.raises(jsonschema.ValidationError, match="denny"):
        jsonschema.validate(value, schema())


def test_the_example_names_its_schema_for_editors() -> None:
    first = EXAMPLE.read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA.relative_to(ROOT)}"
