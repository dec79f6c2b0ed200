"""Images come from the page itself and from what it declares, and from nowhere else."""

from typing import Any

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until

pytestmark = IN_BROWSER

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
ORIGIN = "https://cdn.test.example"
PAGE = """<!doctype html><title>media</title><script>
const shown = {};
const data = "data:image/svg+xml," + encodeURIComponent(`SVG`);
const blob = URL.createObjectURL(new Blob([`SVG`], { type: "image/svg+xml" }));
const sources = {
  data, blob, declared: "ORIGIN/a.svg",
  beside: "https://beside.test.example/a.svg", port: "ORIGIN:8443/a.svg", plain: "http://cdn.test.example/a.svg",
  console: new URL("/static/strad.css", location.href).href,
};
for (const [name, src] of Object.entries(sources)) {
  const image = Object.assign(new Image(), {
    onload: () => { shown[name] = image.naturalWidth; }, onerror: () => { shown[name] = 0; }, src,
  });
}
</script>""".replace("SVG", SVG).replace("ORIGIN", ORIGIN)


async def test_images_come_from_the_page_itself_and_what_it_declares(
    console: Console, visitor: Person
) -> None:
    asked: list[str] = []

    async def answer(route: Any) -> None:
        asked.append(route.request.url)
        await route.fulfill(body=SVG, content_type="image/svg+xml")

    await visitor.context.route("**/a.svg", answer)
    ui = {"csp": {"resourceDomains": [ORIGIN]}}
    console.toys.page(PAGE, _meta={"ui": ui})
    console.toys.tool("show", "ui://t/page")
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await until(frame, "Object.keys(shown).length === 7")
    assert await frame.evaluate("shown") == {
        **dict.fromkeys(["data", "blob", "declared"], 9),
        **dict.fromkeys(["beside", "port", "plain", "console"], 0),
    }
    assert asked == [f"{ORIGIN}/a.svg"]
