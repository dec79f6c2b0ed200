// The address bar, kept for the page. Its search and hash are mirrored here, so that what it shows
// is a link; Back and Forward are told to it. The frame's own address is never touched: Chromium
// fires `load` again when a hash is set from outside, and a second load closes a page.

import { Bucket } from "./rpc.js";
import { element } from "./stage.js";

const LONGEST = 4096; // of a query or a hash as it is written: an address that every server takes
const PUSH_MS = 500;
const WRITE_MS = 250;
const LATE_MS = 1000;

/**
 * A query in the host's order: its own `uri` first, where there is one, then the page's params,
 * re-encoded. Never a `uri` or a `token` from anywhere else.
 *
 * @param {string | null} uri @param {string} search
 */
export function pageQuery(uri, search) {
  const own = uri === null ? [] : [["uri", uri]];
  const kept = [...new URLSearchParams(search)].filter(([name]) => name !== "uri" && name !== "token");
  return new URLSearchParams([...own, ...kept]).toString();
}

/** A hash as the address bar writes it. @param {string} hash */
function encoded(hash) {
  return Object.assign(new URL(location.origin), { hash }).hash;
}

export class AddressBar {
  #uri;
  #tell;
  #query;
  #hash = location.hash;
  #due = 0;
  #writes = new Bucket(5, 20); // browsers stop taking writes that keep coming faster
  #pushed = -PUSH_MS;
  /** Hashes told to the page that it has not reported yet, in order. @type {string[]} */
  #owed = [];
  /** Hashes that Back or Forward moved past meanwhile. @type {Set<string>} */
  #left = new Set();
  #moved = 0;

  /**
   * @param {string} uri the page that is shown; it stays in the address if it is there
   * @param {(hash: string) => void} tell the page: Back or Forward restored this hash
   */
  constructor(uri, tell) {
    this.#uri = new URLSearchParams(location.search).has("uri") ? uri : null;
    this.#query = pageQuery(this.#uri, location.search);
    this.#tell = tell;
    addEventListener("popstate", () => this.#restored());
    // the hash belongs to the page: our own link past the bar does not write one
    document.querySelector("a.skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      element("main").focus();
    });
  }

  /** `x-strad/search` of the page: never an entry of its own. @param {unknown} search */
  showSearch(search) {
    if (typeof search !== "string" || search.length > LONGEST) return;
    const query = pageQuery(this.#uri, search);
    if (query.length > LONGEST) return;
    this.#query = query;
    this.#replace();
  }

  /**
   * `x-strad/hash` of the page. A new entry only if it asks for one, after a person's click or key,
   * and not in a row: nobody's Back button may be buried.
   *
   * @param {unknown} given @param {unknown} push
   */
  showHash(given, push) {
    if (typeof given !== "string" || given.length > LONGEST) return;
    const hash = encoded(given);
    if (hash.length > LONGEST || this.#isLate(hash) || hash === this.#hash) return;
    const now = performance.now();
    const step = push === true && navigator.userActivation.isActive && now - this.#pushed >= PUSH_MS;
    if (step && this.#due) this.#write("replaceState"); // what the entry to go back to still lacks
    this.#hash = hash;
    if (!step) return this.#replace();
    this.#pushed = now;
    this.#write("pushState");
  }

  /** Back, Forward, or a hash typed into the address bar. The query stays the page's latest. */
  #restored() {
    if (this.#isSettled()) this.#left.clear();
    this.#left.add(this.#hash);
    this.#hash = location.hash;
    this.#left.delete(this.#hash);
    this.#owed.push(this.#hash);
    this.#moved = performance.now();
    this.#write("replaceState");
    this.#tell(this.#hash);
  }

  /** No report is awaited any more: the page made them all, or is one that makes none. */
  #isSettled() {
    if (performance.now() - this.#moved > LATE_MS) this.#owed = [];
    return this.#owed.length === 0;
  }

  /** Whether a report was sent before the page heard where Back has led. @param {string} hash */
  #isLate(hash) {
    if (this.#isSettled()) return false;
    const answered = this.#owed.indexOf(hash) + 1;
    this.#owed.splice(0, answered);
    return answered > 0 ? this.#owed.length > 0 : this.#left.has(hash);
  }

  #replace() {
    if (this.#writes.take(performance.now())) this.#write("replaceState");
    else this.#due ||= setTimeout(() => this.#write("replaceState"), WRITE_MS);
  }

  /** @param {"replaceState" | "pushState"} how */
  #write(how) {
    clearTimeout(this.#due);
    this.#due = 0;
    const query = this.#query && `?${this.#query}`;
    history[how](null, "", location.pathname + query + this.#hash);
  }
}
