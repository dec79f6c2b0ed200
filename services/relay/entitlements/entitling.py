"""The lookup of entitlements, put together."""

from collections.abc import Awaitable, Callable

from services.relay.changes.alive import Watch
from services.relay.changes.news import News
from services.relay.entitlements import Source
from services.relay.entitlements.authzen import AuthZen
from services.relay.entitlements.decision_point import DecisionPointSource
from services.relay.entitlements.epochs import Epochs
from services.relay.entitlements.file import FileSource
from services.relay.entitlements.grants import Grants
from services.relay.settings import Settings
from shared.clock import Clock
from shared.contracts.config import Config
from shared.contracts.identity import Principal
from shared.entitled import Admission
from shared.reload import Reload
from shared.stores.kv import KeyValue


class Entitling:
    """`grants` and `admission` answer; `epochs` is told of changes; `watch` looks after open
    streams. `runs` go on for as long as the relay.
    """

    def __init__(self, settings: Settings, store: KeyValue, clock: Clock) -> None:
        config = settings.base.config
        seal, rules = settings.grant_seal, config.entitlements
        point = rules.decision_point
        self._authzen: AuthZen | None = None
        self.watch = watch = Watch(each=config.limits.open)
        if point is not None:
            # it may not tell of a change: streams are not to outlive a kept answer by much
            self.watch = watch = Watch(rules.keep, config.limits.open)
            self._authzen = AuthZen(point.url, settings.decision_point, point.timeout, clock)
        self.epochs = Epochs(store, seal, clock)
        self.grants = Grants(self._source(config), store, seal, self.epochs, clock, rules)
        news = News(store, watch, self.epochs)
        self.runs: list[Callable[[], Awaitable[None]]] = [
            news.run,
            watch.run,
            self.epochs.hear,
            self.epochs.poll,
        ]
        self.admission = Admission(config)
        if settings.config_path is not None:
            self.runs.append(Reload(settings.config_path, config, self._changed).run)

    async def close(self) -> None:
        """Let go of connections."""
        if self._authzen is not None:
            await self._authzen.close()

    def _changed(self, config: Config) -> None:
        self.admission.config = config
        before, after = self.grants.source, self._source(config)
        self.grants.source = after
        if isinstance(before, FileSource) and isinstance(after, FileSource):
            # streams of everybody else need no second look: there may be thousands
            admits = self.admission.admits

            def concerns(principal: Principal) -> bool:
                person = principal.person
                return not (admits(person) and before.agrees(after, person))

            self.watch.look(concerns)
        else:
            self.watch.look()

    def _source(self, config: Config) -> Source:
        if self._authzen is None:
            return FileSource(config)
        return DecisionPointSource(config, self._authzen)
