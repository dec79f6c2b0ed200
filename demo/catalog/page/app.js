/**
 * The toy catalogue's page: it shows what the host's opening call returned, and asks the server
 * again, through the host, to search, to refresh and to set a toy aside.
 *
 * Two rules for data that belongs to one person: what is on the page is cleared before new data is
 * asked for, so that a failure never leaves the old behind; and an answer that comes late, after a
 * newer question, is dropped.
 */

import { App } from "@modelcontextprotocol/ext-apps";
import { catalogOf, setAsideOf } from "./shape.js";
import { Shelf } from "./shelf.js";
import { sayIn } from "./words.js";

/** @typedef {import("./shape.js").Toy} Toy */
/** @typedef {import("./words.js").Word} Word */
/** @typedef {{structuredContent?: unknown, isError?: boolean, content?: unknown}} Result */

const TYPING_PAUSE = 250;
const PATIENCE = 15_000;
const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

const query = /** @type {HTMLInputElement} */ (document.getElementById("query"));
const refresh = /** @type {HTMLButtonElement} */ (document.getElementById("refresh"));
const shelf = new Shelf(
  /** @type {HTMLElement} */ (document.getElementById("shelf")),
  /** @type {HTMLElement} */ (document.getElementById("count")),
);
const app = new App({ name: "Toy catalogue", version: "1.0.0" }, {});

let say = sayIn("en");
/** The search that the host's address bar shows. */
let shared = "";
/** Counts the questions asked. An answer to any but the last one is late. */
let asked = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

/** The first text of a result, which a server uses to say what went wrong. @param {Result} result */
function textOf(result) {
  const first = Array.isArray(result.content) ? result.content[0] : undefined;
  return typeof first?.text === "string" ? first.text : "";
}

/** @param {unknown} error */
const reasonOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} problem */
function fail(problem) {
  shelf.showFailure(say, problem, load);
}

/** @param {Result} result */
function show(result) {
  if (result.isError) return fail(textOf(result) || say("failed"));
  const catalog = catalogOf(result.structuredContent);
  if (!catalog) return fail(say("malformed"));
  speak(catalog.locale);
  if (catalog.toys.length === 0) return shelf.showNothing(say, catalog.query, showAll);
  return shelf.showToys(say, catalog.toys, setAside);
}

/** Asks for the toys that match the field; what was shown is gone from here on. */
async function load() {
  clearTimeout(typing);
  asked += 1;
  const mine = asked;
  const words = query.value.trim();
  shelf.showWaiting(say);
  shareSearch(words);
  try {
    const result = await app.callServerTool({
      name: "list_toys",
      arguments: words ? { query: words } : {},
    });
    if (mine === asked) show(result);
  } catch (error) {
    if (mine === asked) fail(`${say("failed")} ${reasonOf(error)}`);
  }
}

function showAll() {
  query.value = "";
  query.focus();
  void load();
}

/** @param {Toy} toy @param {HTMLElement} card */
async function setAside(toy, card) {
  const mine = asked;
  shelf.showBusy(say, card);
  const [shown, message, bad] = await holding(toy);
  if (mine === asked) shelf.redraw(say, card, shown, setAside, { message, bad });
}

/**
 * One call of the writing tool. A host may refuse it, or ask the person first and be told no.
 * @param {Toy} toy
 * @returns {Promise<[toy: Toy, message: string, bad: boolean]>}
 */
async function holding(toy) {
  try {
    const result = await app.callServerTool({ name: "set_aside", arguments: { toy: toy.id } });
    if (result.isError) return [toy, textOf(result) || say("failed"), true];
    const done = setAsideOf(result.structuredContent);
    return done ? [done.toy, done.message, false] : [toy, say("malformed"), true];
  } catch (error) {
    return [toy, say("refused", { reason: reasonOf(error) }), true];
  }
}

/** The account's language decides, not the browser's nor the host's. @param {string} locale */
function speak(locale) {
  say = sayIn(locale);
  document.documentElement.lang = locale;
  query.placeholder = say("search");
  for (const node of document.querySelectorAll("[data-word]")) {
    node.textContent = say(/** @type {Word} */ (node.getAttribute("data-word")));
  }
}

/** @param {{theme?: "light" | "dark"} | undefined} context */
function dress(context) {
  if (context?.theme) document.documentElement.dataset.theme = context.theme;
}

/** Lets a host that knows x-strad/search keep the search in its address bar. @param {string} words */
function shareSearch(words) {
  if (words === shared) return;
  shared = words;
  const search = words ? `?${new URLSearchParams({ q: words })}` : "";
  const note = { method: "x-strad/search", params: { search } };
  app.notification(note).catch(() => undefined);
}

/** @param {string} key */
function press(key) {
  if (ARROWS.includes(key)) shelf.move(key);
  else if (key === "Escape" && query.value) showAll();
}

app.ontoolresult = (result) => {
  if (asked === 0) show(result);
};
app.ontoolcancelled = () => {
  if (asked === 0) fail(say("cancelled"));
};
app.onhostcontextchanged = (context) => {
  dress(context);
  // Dates or rights may have changed with it: what is shown, or on its way, no longer counts.
  if (context.locale ?? context.timeZone) void load();
};
app.onteardown = () => {
  asked += 1;
  shelf.root.replaceChildren();
  return {};
};
app.fallbackNotificationHandler = async (note) => {
  if (note.method === "x-strad/key") press(String(note.params?.key ?? ""));
};

query.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(load, TYPING_PAUSE);
});
query.addEventListener("keydown", (event) => {
  if (event.key === "Enter") void load();
});
refresh.addEventListener("click", () => void load());
document.addEventListener("keydown", (event) => {
  if (event.target === query && event.key !== "Escape") return;
  if (ARROWS.includes(event.key)) event.preventDefault();
  press(event.key);
});

shelf.showWaiting(say);
try {
  await app.connect();
  dress(app.getHostContext());
  // A shared link carries its search; it is somebody's input, and only ever a query.
  query.value = (new URLSearchParams(location.search).get("q") ?? "").slice(0, query.maxLength);
  shared = query.value.trim();
  if (query.value) await load();
  setTimeout(() => asked === 0 && shelf.root.ariaBusy === "true" && fail(say("silent")), PATIENCE);
} catch (error) {
  fail(`${say("failed")} ${reasonOf(error)}`);
}
