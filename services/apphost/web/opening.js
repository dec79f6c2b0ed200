// The call that opens a page: by itself only for a tool that reads, otherwise by the person's press
// on Run, on the host's own surface. The page gets tool-input, then the result, each once.

import { sentence } from "./calls.js";
import { Question } from "./question.js";
import { element, make, makeButton, mark, say, setBusy, textOf, unsay } from "./stage.js";

/**
 * @typedef {object} Needs
 * @property {import("./types.d.ts").Boot} boot
 * @property {import("./bridge.js").Bridge} bridge
 * @property {import("./asks.js").Asks} asks
 * @property {import("./blocked.js").Blocked} blocked
 * @property {(outcome: import("./types.d.ts").Outcome) => void} heard
 */

/** How far a call is, in numbers: the bar has no words of a server's. @type {import("./types.d.ts").Progress} */
const showProgress = ({ progress, total }) => {
  const part = Math.round((100 * Number(progress)) / Number(total));
  mark("loading", part >= 0 && part <= 100 ? `Running… ${part} %` : "Running…");
};

export class Opening {
  #needs;
  #started = false;
  #card = new Question("run");
  #again = element("run-again");

  /** @param {Needs} needs */
  constructor(needs) {
    this.#needs = needs;
    this.#card.draw(needs.boot.fields);
    this.#again.addEventListener("click", () => void this.#offer());
  }

  /** The page listens now, or the person asks for the tool's answer as text. */
  begin() {
    const { tool, readOnly, lookOnly, defaults } = this.#needs.boot;
    if (this.#started || tool === null) return;
    if (lookOnly) {
      const text = "You signed in with a link, so no tool runs. Sign in yourself to use the app.";
      say("look-only", "info", "You can look, but not act", text);
    } else if (readOnly) void this.#run("open", defaults);
    else void this.#offer();
  }

  async #offer() {
    if (this.#card.isOpen) return;
    this.#again.hidden = true;
    mark("quiet", "Waits for you");
    const args = await this.#card.ask("Run", 1000);
    if (args) return this.#run("run", args);
    this.#again.hidden = false;
    this.#again.focus();
  }

  /** @param {"open" | "run"} surface @param {import("./types.d.ts").Params} args */
  async #run(surface, args) {
    const { boot, bridge, asks, heard } = this.#needs;
    this.#started = true;
    setBusy(true);
    showProgress({});
    bridge.notify("ui/notifications/tool-input", { arguments: args });
    const outcome = await asks.call(surface, `${boot.tool}`, args, { progress: showProgress });
    if (bridge.closed) return; // meanwhile the page was closed, and that is what is shown
    setBusy(false);
    if (outcome.result) this.#deliver(outcome.result);
    else this.#failed(outcome);
    heard(outcome);
  }

  /** @param {import("./types.d.ts").CallToolResult} result */
  #deliver(result) {
    const { bridge } = this.#needs;
    bridge.notify("ui/notifications/tool-result", result);
    if (result.isError) mark("warn", "The tool reported an error");
    else mark("ready", "Ready");
    if (!bridge.ready) {
      const text = make("pre", textOf(result), "plain-result");
      text.tabIndex = 0;
      say("silent", "info", "The tool's answer, as text", "The page did not show it.", [text]);
    }
  }

  /** @param {import("./types.d.ts").Outcome} outcome */
  #failed(outcome) {
    const reason = sentence(outcome);
    this.#needs.bridge.notify("ui/notifications/tool-cancelled", { reason });
    mark("down", "The tool did not run");
    say("failed", "error", `${this.#needs.boot.tool} did not run`, reason, [makeButton("Reload", () => element("reload").click())]);
  }

  /** Nothing came from the page: say what is known, and offer the tool's answer without it. */
  offerText() {
    const { boot: { tool, readOnly, lookOnly }, blocked } = this.#needs;
    const known = blocked.facts.map(([, line]) => `Blocked: ${line}`).slice(0, 3).join("\n");
    const text = known || "It may need something that a page here does not get, such as the network or storage.";
    const more = [];
    if (tool !== null && !lookOnly && !this.#started) {
      const label = readOnly ? "Show the answer as text" : "Run the tool for its text";
      more.push(makeButton(label, () => { unsay("silent"); this.begin(); }));
    }
    say("silent", "warn", "This page has not started", text, more);
    mark("warn", "Silent");
  }
}
