"""Firefox knows no `Permissions-Policy`: what a page gets there of the person's devices."""

from tests.apphost.console import Console
from tests.browser.probe import ship
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.tab import Place

pytestmark = IN_FIREFOX

ASKS = """<!doctype html><title>asks for everything</title><body style="height: 100vh"><script>
const asks = {
  microphone: () => navigator.mediaDevices.getUserMedia({ audio: true }),
  camera: () => navigator.mediaDevices.getUserMedia({ video: true }),
  screen: () => navigator.mediaDevices.getDisplayMedia({ video: true }),
  place: () => new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no)),
  whole: () => document.documentElement.requestFullscreen(),
  awake: () => navigator.wakeLock.request("screen"),
  key: () => navigator.credentials.get({ publicKey: { challenge: new Uint8Array(8) } }),
  storage: () => document.requestStorageAccess(),
  keep: () => navigator.storage.persist(),
  turn: () => screen.orientation.lock("portrait"),
  pointer: () => new Promise((yes, no) => {
    document.onpointerlockchange = yes;
    document.onpointerlockerror = no;
    document.body.requestPointerLock();
  }),
  notify: async () => { if (await Notification.requestPermission() !== "granted") throw 0; },
  devices: async () => { if (!(await navigator.mediaDevices.enumerateDevices()).length) throw 0; },
};
const given = {};
addEventListener("click", async () => {
  for (const [name, ask] of Object.entries(asks)) {
    const late = new Promise((yes) => setTimeout(yes, 1500, "waits"));
    const asked = Promise.resolve().then(ask).then(() => "given", () => "refused");
    given[name] = await Promise.race([asked, late]);
  }
  globalThis.done = true;
}, { once: true });
</script>"""


async def answers(place: Place) -> dict[str, str]:
    """What became of each, after a person's click."""
    await place.point("viewport", 300, 300)
    await place.until("globalThis.done", 40)
    given: dict[str, str] = await place.evaluate("given")
    assert len(given) == 13
    return given


async def test_a_page_in_its_frame_gets_no_device_and_no_permission(
    console: Console, visitor: Person
) -> None:
    ship(console, ASKS)
    await visitor.open("/apps/toys")
    assert set((await answers(await visitor.app())).values()) == {"refused"}


async def test_a_page_opened_by_itself_gets_what_firefox_gives_to_every_page(
    console: Console, visitor: Person
) -> None:
    """A limit and no wish: by its own address only, which a person has to type. When this fails,
    docs/known-limitations.md can say less."""
    ship(console, ASKS)
    await visitor.open("/apps/toys/frame")
    given = await answers(visitor.tab)
    more = {name: answer for name, answer in given.items() if answer != "refused"}
    # two without a question, and two for which Firefox asks the person
    assert more == {"whole": "given", "awake": "given", "place": "waits", "notify": "waits"}
