"""The bytes that go before a server's document. The document itself is never edited.

They stand after its doctype (before it, the browser would fall into quirks mode) and before
everything else, so that no markup of the page can move or swallow them.
"""

import re

from shared.contracts.config import AppSettings, Links, Storage

_BOM = b"\xef\xbb\xbf"
_BLANK = rb"[\t\n\f\r ]*+"
# a comment ends as browsers end it (WHATWG HTML 13.2.5.43 ff.): also `<!-->`, `<!--->` and `--!>`
# (atomic and possessive: a server must not be able to make the match try every other way)
_COMMENT = rb"(?><!--(?:>|->|.*?--!?>)|<\?[^>]*>)"
_DOCTYPE = re.compile(
    _BLANK + rb"(?:" + _COMMENT + _BLANK + rb")*+<!doctype[^>]*>",
    re.IGNORECASE | re.DOTALL,
)
_LOOK_AT = 64 * 1024

# Each document is announced before it can speak itself. Firefox lets a frame reload itself as if
# the host did (`Sec-Fetch-Site: same-origin`): the second would have the bridge until `load`.
_BASE = b"""<base target="_blank"><script>
parent.postMessage({ jsonrpc: "2.0", method: "x-strad/document" }, "*");
"""
_END = b"document.currentScript.remove();\n</script>"

# Plain links go to the host, which shows the address and asks. A notification, so without an id:
# an answer that the page never asked for would be an error in its SDK. Links within the page make
# no entry: Back through entries of the frame's own fires `load`, which closes the page.
_LINKS = b"""addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button > 1) return;
  const within = link.getAttribute("href").startsWith("#");
  if (!within && !/^https?:$/.test(link.protocol)) return;
  event.preventDefault();
  if (within) return location.replace(link.getAttribute("href"));
  parent.postMessage({ jsonrpc: "2.0", method: "x-strad/link", params: { url: link.href } }, "*");
});
"""

# What the browser blocks in an opaque document only that document hears of. It is told to the host
# once each and twenty times at most, so that no page runs into the host's limit by loading.
_BLOCKED = b"""const told = new Set();
const tell = (directive, what) => {
  const once = `${directive} ${what}`;
  if (told.has(once) || told.size >= 20) return;
  told.add(once);
  const params = { directive, what };
  parent.postMessage({ jsonrpc: "2.0", method: "x-strad/blocked", params }, "*");
};
const failed = (error) => error?.name === "SecurityError" && tell("storage", error.message);
addEventListener("securitypolicyviolation", (e) => tell(e.effectiveDirective, e.blockedURI));
addEventListener("error", ({ error }) => failed(error));
addEventListener("unhandledrejection", ({ reason }) => failed(reason));
"""

# A sandboxed document may not even look at localStorage. This one forgets all with the page, so
# nothing passes between servers, people or visits.
_STORAGE = b"""<script>
for (const name of ["localStorage", "sessionStorage"]) {
  const held = new Map();
  const own = {
    getItem: (key) => held.get(String(key)) ?? null,
    setItem: (key, value) => void held.set(String(key), String(value)),
    removeItem: (key) => void held.delete(String(key)),
    clear: () => held.clear(),
    key: (index) => [...held.keys()][index] ?? null,
    get length() { return held.size; },
  };
  const put = (key, value) => { held.set(String(key), String(value)); return true; };
  const shown = { writable: true, enumerable: true, configurable: true };
  const value = new Proxy({}, {
    get: (_, key) => (Object.hasOwn(own, key) ? own[key] : held.get(key)),
    set: (_, key, value) => put(key, value),
    has: (_, key) => Object.hasOwn(own, key) || held.has(key),
    deleteProperty: (_, key) => { held.delete(key); return true; },
    defineProperty: (_, key, { value }) => put(key, value),
    ownKeys: () => [...held.keys()],
    getOwnPropertyDescriptor: (_, key) =>
      held.has(key) ? { ...shown, value: held.get(key) } : undefined,
  });
  Object.defineProperty(window, name, { configurable: true, enumerable: true, value });
}
document.currentScript.remove();
</script>"""


def prefix(app: AppSettings) -> bytes:
    """What is added. With links off none are carried to the host, and nothing else opens them."""
    links = _LINKS if app.links is Links.HOST else b""
    shim = _BASE + b"{\n" + _BLOCKED + links + b"}\n" + _END
    return shim + (_STORAGE if app.storage is Storage.MEMORY else b"")


def wrap(html: bytes, app: AppSettings) -> bytes:
    """A server's document with the prefix at its place. `html` is UTF-8."""
    start = len(_BOM) if html.startswith(_BOM) else 0
    doctype = _DOCTYPE.match(html, start, start + _LOOK_AT)
    at = doctype.end() if doctype else start
    return html[:at] + prefix(app) + html[at:]
