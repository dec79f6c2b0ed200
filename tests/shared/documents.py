"""A document for tests of the settings, and changes laid over it."""

from pathlib import Path
from typing import Any

import yaml

from shared.contracts.config import Config
from shared.settings import Environment, read_config

GOOD: dict[str, Any] = {
    "public_url": "https://strad.example.com",
    "provider": {
        "client_id": "c",
        "client_secret": {"env": "SECRET"},
        "allow": {"domains": ["example.com"]},
    },
    "groups": {"makers": ["Ada@Example.com"]},
    "servers": [
        {
            "slug": "toys",
            "name": "Toys",
            "url": "http://toys:8080/mcp",
            "access": {"groups": ["makers"]},
        }
    ],
}


def merged(base: Any, changes: Any) -> Any:
    """Changes laid over a document; a dict over a dict is merged, anything else replaces."""
    if isinstance(base, dict) and isinstance(changes, dict):
        return base | {name: merged(base.get(name), value) for name, value in changes.items()}
    return changes


def read(
    folder: Path, document: Any, **variables: str
) -> tuple[Config | None, list[tuple[str, str, str]]]:
    path = folder / "strad.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    env = Environment(variables)
    config = read_config(env, path)
    return config, [(one.where, one.problem, one.fix) for one in env.mistakes]
