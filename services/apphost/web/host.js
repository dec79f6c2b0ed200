// The host of one page: it makes the frame, ties the bridge to the first document in it, and ends
// both when a second one comes.

import { Asks } from "./asks.js";
import { Blocked } from "./blocked.js";
import { Bridge } from "./bridge.js";
import { answerCalls } from "./calls.js";
import { introduction, watchContext } from "./context.js";
import { Display } from "./display.js";
import { answerDownloads } from "./download.js";
import { frameAnswer, makeFrame } from "./frame.js";
import { forwardKeys } from "./keys.js";
import { offerLink } from "./links.js";
import { AddressBar, pageQuery } from "./location.js";
import { Log } from "./log.js";
import { Opening } from "./opening.js";
import { answerReads } from "./reads.js";
import { Strip } from "./strip.js";
import { element, mark, setBusy, showClosed, unsay } from "./stage.js";
import { openPort } from "./window_port.js";

const SILENT_MS = 8000;
const PARTING_MS = 500;

/** @type {import("./types.d.ts").Boot} */
const boot = JSON.parse(element("boot").textContent ?? "");
const frame = makeFrame(boot);
const log = new Log();
const strip = new Strip();
const blocked = new Blocked(boot.remedies);
const asks = new Asks(boot);

/** @type {Map<string, import("./types.d.ts").Answerer>} */
const requests = new Map();
/** @type {Map<string, import("./types.d.ts").Listener>} */
const notifications = new Map();
const bridge = new Bridge({
  requests,
  notifications,
  // what a page says, and what was blocked in it, stand in the log in words
  passed: (who, method, fate) =>
    ["notifications/message", "x-strad/blocked"].includes(method) || log.add(who, method, fate),
  flooded: () => close("The page sent too many messages", "It was stopped so that the console stays usable."),
});
/** @param {import("./types.d.ts").McpUiHostContext} change */
const tell = (change) => bridge.ready && bridge.notify("ui/notifications/host-context-changed", change);
const display = new Display(tell);
const address = new AddressBar(boot.page, (hash) => bridge.notify("x-strad/hash", { hash }));

let [documents, loads, starts, silence] = [0, 0, 0, 0];
const showFacts = () =>
  log.facts([["Mounts", `${loads}`], ["Starts", `${starts}`], ...blocked.facts, ...frameAnswer(frame).facts]);

/** @param {string} title @param {string} text */
function close(title, text) {
  if (!frame.isConnected) return;
  clearTimeout(silence);
  frame.remove();
  bridge.close();
  strip.close();
  showClosed(title, text);
}

const closeSecond = () =>
  close("The page tried to load another page", "An app may show only what its server gave to strad.");
/** The first word of each document, before its own script can speak (document.py). */
const announced = () => (documents += 1) > 1 && closeSecond();

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
for (const id of ["close", "home"]) leaveBy(id, () => location.assign("/"));

/** Every answer of our own route: a session or a right that ended ends the page. */
const heard = (/** @type {import("./types.d.ts").Outcome} */ { problem }) => {
  if (problem?.status === 401) closeAfterParting("You are signed out", "Sign in again to open this app.");
  if (problem?.status === 404) closeAfterParting("You no longer have this app", "Your access to its server ended.");
};
const opening = new Opening({ boot, bridge, asks, blocked, heard });

requests.set("ui/initialize", ({ appCapabilities }) => {
  display.learn(appCapabilities);
  starts += 1;
  showFacts();
  return introduction(boot, frame, display);
});
requests.set("ping", () => ({}));
requests.set("ui/open-link", ({ url }) => offerLink(strip, url));
requests.set("ui/request-display-mode", ({ mode }) => display.switchTo(mode));
requests.set("tools/call", answerCalls(asks, heard));
const readResource = answerReads(boot, heard, requests);
requests.set("ui/download-file", answerDownloads(strip, readResource));

notifications.set("ui/notifications/initialized", () => {
  if (bridge.ready) return;
  clearTimeout(silence);
  unsay("silent");
  setBusy(false);
  mark("ready", "Ready");
  bridge.release();
  opening.begin();
});
notifications.set("notifications/message", ({ level, logger, data }) =>
  log.add("page", `says (${[level, logger].filter((word) => typeof word === "string")}):`, data));
notifications.set("ui/notifications/request-teardown", () =>
  closeAfterParting("The page asked to be closed", "It has ended. You can open it again."));
// a plain link: nobody waits for an answer, and nobody hears of a refusal
notifications.set("x-strad/link", ({ url }) => void offerLink(strip, url).catch(() => undefined));
notifications.set("x-strad/search", ({ search }) => address.showSearch(search));
notifications.set("x-strad/hash", ({ hash, push }) => address.showHash(hash, push));
notifications.set("x-strad/blocked", (params) => {
  log.add("page", "was refused by its policy:", blocked.add(params));
  showFacts();
});

frame.addEventListener("load", () => {
  loads += 1;
  showFacts();
  const { failed, plain } = frameAnswer(frame);
  element("main").classList.toggle("is-plain", plain);
  if (loads > 1) closeSecond();
  else if (failed) {
    clearTimeout(silence);
    setBusy(false);
    mark("down", "Not shown");
  }
});

function start() {
  silence = setTimeout(() => {
    setBusy(false);
    opening.offerText();
  }, SILENT_MS);
  /** @param {any} data */
  const hear = (data) => data?.method === "x-strad/document" ? announced() : bridge.hear(data);
  bridge.open(openPort(frame, hear));
  forwardKeys(frame, bridge);
  frame.src = `${boot.frame}?${pageQuery(boot.page, location.search)}${location.hash}`;
  element("main").prepend(frame);
  watchContext(frame, tell);
}

// From the back-forward cache a page would come back with rights that may have ended.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// A browser may prepare this page before the person goes to it; nothing runs until they do.
if (document.prerendering) document.addEventListener("prerenderingchange", start, { once: true });
else start();
