// What passed between page and host, and what the page wrote for its author: kept here, shown in a
// panel of the host's. Each entry is one line of plain text, so that none can look like two.

import { saveFile } from "./save.js";
import { element, make, onEscape } from "./stage.js";

const MAX_LINES = 500;
const MAX_TEXT = 2000;

export class Log {
  /** @type {string[]} */
  #lines = [];
  #panel = element("log");
  #list = element("log-lines");
  #filter = /** @type {HTMLInputElement} */ (element("log-filter"));
  #due = 0;

  constructor() {
    element("log-open").addEventListener("click", () => this.#show(Boolean(this.#panel.hidden)));
    element("log-close").addEventListener("click", () => this.#show(false));
    onEscape(this.#panel, () => this.#show(false));
    this.#filter.addEventListener("input", () => this.#draw());
    element("log-copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText(this.#chosen().join("\n"));
      element("log-said").textContent = "Copied";
    });
    element("log-save").onclick = () => saveFile("strad-log.txt", [this.#chosen().join("\n"), "\n"]);
  }

  /** @param {"page" | "host"} who @param {string} what @param {unknown} [more] text, or any JSON */
  add(who, what, more = "") {
    const text = typeof more === "string" ? more : JSON.stringify(more);
    const line = `${new Date().toISOString().slice(11, 23)} ${who} ${what} ${text}`;
    this.#lines.push(line.slice(0, MAX_TEXT).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").trimEnd());
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    if (this.#panel.hidden || this.#due !== 0) return;
    this.#due = requestAnimationFrame(() => this.#draw());
  }

  /** What stands above the lines. @param {[string, string][]} pairs */
  facts(pairs) {
    const parts = pairs.flatMap(([term, text]) => [make("dt", term), make("dd", text)]);
    element("log-facts").replaceChildren(...parts);
  }

  /** @param {boolean} open */
  #show(open) {
    this.#panel.hidden = !open;
    element("log-open").setAttribute("aria-expanded", String(open));
    this.#draw();
    element(open ? "log-title" : "log-open").focus();
  }

  #chosen() {
    const wanted = this.#filter.value.toLowerCase();
    return this.#lines.filter((line) => line.toLowerCase().includes(wanted));
  }

  #draw() {
    this.#due = 0;
    element("log-said").textContent = "";
    this.#list.replaceChildren(...this.#chosen().map((line) => make("li", line)));
    this.#list.scrollTop = this.#list.scrollHeight;
  }
}
