"""`strad refresh [EMAIL]`: what is known of a person's entitlements, or of all, no longer counts.

For the relay's own container or folder of keys: it speaks to Redis as the relay does.
"""

import asyncio
import sys
from pathlib import Path

from services.relay.entitlements.epochs import Epochs
from shared.clock import system_clock
from shared.contracts.wire import Service
from shared.key_folder import GRANT, Keys
from shared.settings import Environment, SettingsWrong, redis_address
from shared.stores.kv import StoreUnavailable
from shared.stores.redis import connect


def refresh(email: str | None) -> int:
    """Tell every replica; returns the exit status."""
    try:
        asyncio.run(_tell(email))
    except SettingsWrong as error:
        print(error, file=sys.stderr)
    except StoreUnavailable as error:
        fix = "check STRAD_REDIS, and that STRAD_KEYS names the folder `relay`"
        print(f"Redis does not take it: {error}\n    fix: {fix}", file=sys.stderr)
    else:
        print(f"Asked about anew from now on: {email or 'everybody'}.")
        return 0
    return 1


async def _tell(email: str | None) -> None:
    env = Environment()
    keys = Keys(env, Path(env.text("STRAD_KEYS", "/run/strad/keys")))
    seal, password, url = keys.seal(GRANT), keys.text("redis.password"), redis_address(env)
    env.done()
    assert seal is not None
    store = connect(url, Service.RELAY, password)
    try:
        await Epochs(store, seal, system_clock).void(email)
    finally:
        await store.close()


if __name__ == "__main__":
    sys.exit(refresh(sys.argv[1] if sys.argv[1:] else None))
