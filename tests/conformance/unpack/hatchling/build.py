"""The one hook that is asked for (PEP 517 `build_wheel`)."""

import zipfile
from email.parser import HeaderParser
from pathlib import Path

EXAMPLE = Path("examples/servers/everything-server")
CLIENT = Path(".github/actions/conformance/client.py")
WHEEL = "Wheel-Version: 1.0\nGenerator: unpack\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: object = None,
) -> str:
    """Make a wheel of the example's package and the client; runs in the unpacked archive."""
    facts = Path("PKG-INFO").read_text()
    headers = HeaderParser().parsestr(facts)
    stem = f"{headers['Name']}-{headers['Version']}"
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w") as wheel:
        for file in sorted(EXAMPLE.glob("mcp_everything_server/*.py")):
            wheel.write(file, file.relative_to(EXAMPLE))
        wheel.write(CLIENT, "mcp_conformance_client.py")
        wheel.writestr(f"{stem}.dist-info/METADATA", facts)
        wheel.writestr(f"{stem}.dist-info/WHEEL", WHEEL)
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
    return name
