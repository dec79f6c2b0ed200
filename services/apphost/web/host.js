// The host of one page: it makes the frame, ties the bridge to the first document in it, and ends
// both when a second one comes.

import { Bridge } from "./bridge.js";
import { answerCalls } from "./calls.js";
import { introduction, watchContext } from "./context.js";
import { Display } from "./display.js";
import { answerDownloads } from "./download.js";
import { forwardKeys } from "./keys.js";
import { offerLink } from "./links.js";
import { AddressBar, pageQuery } from "./location.js";
import { Log } from "./log.js";
import { Opening } from "./opening.js";
import { answerReads } from "./reads.js";
import { isRecord } from "./rpc.js";
import { Strip } from "./strip.js";
import { element, mark, setBusy, showClosed, unsay } from "./stage.js";
import { openPort } from "./window_port.js";

const SILENT_MS = 8000;
const PARTING_MS = 500;

/** @type {import("./types.d.ts").Boot} */
const boot = JSON.parse(element("boot").textContent ?? "");

/**
 * The answer to the frame's own request, as far as its embedder may know it.
 *
 * @param {string} src
 * @returns {{ failed: boolean, plain: boolean, facts: [string, string][] }} see policy_facts.py
 */
function frameAnswer(src) {
  const bare = (/** @type {string} */ url) => url.split("#")[0]; // Firefox keeps the hash in the name
  const entries = performance.getEntriesByType("resource").filter(({ name }) => bare(name) === bare(src));
  const entry = /** @type {PerformanceResourceTiming | undefined} */ (entries.at(-1));
  const timing = new Map(entry?.serverTiming?.map(({ name, description }) => [name, description]));
  const facts = JSON.parse(decodeURIComponent(timing.get("policy") ?? "[]"));
  return { failed: Number(entry?.responseStatus) >= 400, plain: timing.has("plain"), facts };
}

function start() {
  const frame = document.createElement("iframe");
  frame.title = `${boot.name}, a page of its server`;
  const fixed = { sandbox: boot.sandbox, allow: "", referrerpolicy: "no-referrer" };
  for (const [name, value] of Object.entries(fixed)) frame.setAttribute(name, value);

  /** @param {string} title @param {string} text */
  const close = (title, text) => {
    if (!frame.isConnected) return;
    clearTimeout(silence);
    frame.remove();
    bridge.close();
    strip.close();
    showClosed(title, text);
  };

  const closeSecond = () =>
    close("The page tried to load another page", "An app may show only what its server gave to strad.");

  let loads = 0;
  let starts = 0;
  const showFacts = () =>
    log.facts([["Mounts", `${loads}`], ["Starts", `${starts}`], ...frameAnswer(frame.src).facts]);
  /** @type {Promise<void> | null} */
  let parting = null;
  /** The page's last moment, told once: it may save something, over a bridge that still answers. */
  const part = () => (parting ??= bridge.ask("ui/resource-teardown", {}, PARTING_MS));
  /** @param {string} title @param {string} text */
  const closeAfterParting = (title, text) => void part().then(() => close(title, text));
  /** @param {string} id @param {() => void} go */
  const leaveBy = (id, go) =>
    element(id).addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab: this page stays
      event.preventDefault();
      setBusy(true);
      void part().then(go);
    });
  leaveBy("reload", () => location.reload());
  leaveBy("close", () => location.assign("/"));

  /** Every answer of our own route: a session or a right that ended ends the page. */
  const heard = (/** @type {import("./types.d.ts").Outcome} */ outcome) => {
    if (outcome.kind !== "problem") return;
    if (outcome.status === 401) closeAfterParting("You are signed out", "Sign in again to open this app.");
    if (outcome.status === 404) closeAfterParting("You no longer have this app", "Your access to its server ended.");
  };

  const log = new Log();
  const strip = new Strip();
  /** @type {Map<string, import("./types.d.ts").Answerer>} */
  const requests = new Map();
  requests.set("ui/initialize", ({ appCapabilities }) => {
    display.learn(appCapabilities);
    starts += 1;
    showFacts();
    return introduction(boot, frame, display);
  });
  requests.set("ping", () => ({}));
  requests.set("ui/open-link", ({ url }) => offerLink(strip, url));
  requests.set("ui/request-display-mode", ({ mode }) => display.switchTo(mode));
  requests.set("tools/call", answerCalls(boot, heard));
  const readResource = answerReads(boot, heard, requests);
  requests.set("ui/download-file", answerDownloads(strip, readResource));
  /** @type {Map<string, import("./types.d.ts").Listener>} */
  const notifications = new Map();
  notifications.set("ui/notifications/initialized", () => initialized());
  notifications.set("notifications/message", ({ level, logger, data }) =>
    log.add("page", `says (${[level, logger].filter((word) => typeof word === "string")}):`, data));
  notifications.set("ui/notifications/request-teardown", () =>
    closeAfterParting("The page asked to be closed", "It has ended. You can open it again."));
  // a plain link: nobody waits for an answer, and nobody hears of a refusal
  notifications.set("x-strad/link", ({ url }) => void offerLink(strip, url).catch(() => undefined));
  const address = new AddressBar(boot.page, (hash) => bridge.notify("x-strad/hash", { hash }));
  notifications.set("x-strad/search", ({ search }) => address.showSearch(search));
  notifications.set("x-strad/hash", ({ hash, push }) => address.showHash(hash, push));
  const bridge = new Bridge({
    requests,
    notifications,
    // what a page says stands in the log itself
    passed: (who, method, fate) => method === "notifications/message" || log.add(who, method, fate),
    flooded: () => close("The page sent too many messages", "It was stopped so that the console stays usable."),
  });
  /** @param {import("./types.d.ts").McpUiHostContext} change */
  const tell = (change) => bridge.ready && bridge.notify("ui/notifications/host-context-changed", change);
  const display = new Display(tell);
  const opening = new Opening({ boot, bridge, heard });

  const initialized = () => {
    if (bridge.ready) return;
    clearTimeout(silence);
    unsay("silent");
    setBusy(false);
    mark("ready", "Ready");
    bridge.release();
    opening.begin();
  };

  const silence = setTimeout(() => {
    setBusy(false);
    opening.offerText();
  }, SILENT_MS);

  frame.addEventListener("load", () => {
    loads += 1;
    showFacts();
    element("main").classList.toggle("is-plain", frameAnswer(frame.src).plain);
    if (loads > 1) {
      closeSecond();
    } else if (frameAnswer(frame.src).failed) {
      clearTimeout(silence);
      setBusy(false);
      mark("down", "Not shown");
    }
  });

  let documents = 0;
  bridge.open(openPort(frame, (data) => {
    // the first word of each document, before its own script can speak (document.py)
    if (!isRecord(data) || data.method !== "x-strad/document") bridge.hear(data);
    else if ((documents += 1) > 1) closeSecond();
  }));
  forwardKeys(frame, bridge);
  frame.src = `${boot.frame}?${pageQuery(boot.page, location.search)}${location.hash}`;
  element("main").prepend(frame);
  watchContext(frame, tell);
}

// From the back-forward cache a page would come back with rights that may have ended.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// A browser may prepare this page before the person goes to it; nothing runs until they do.
if (document.prerendering) document.addEventListener("prerenderingchange", start, { once: true });
else start();
