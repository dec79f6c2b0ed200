// The call that opens a page: by itself only for a tool that reads, otherwise by the person's press
// on Run, on the host's own surface. The page gets tool-input, then the result, each once.

import { callTool, sentence } from "./calls.js";
import { defaults, drawForm } from "./form.js";
import { arm, coverPage, element, focusPage, make, makeButton, mark, onEscape, say, setBusy, textOf, unsay } from "./stage.js";

/**
 * @typedef {object} Needs
 * @property {import("./types.d.ts").Boot} boot
 * @property {import("./bridge.js").Bridge} bridge
 * @property {(outcome: import("./types.d.ts").Outcome) => void} heard
 */

export class Opening {
  #boot;
  #bridge;
  #heard;
  #started = false;
  #button = /** @type {HTMLButtonElement} */ (element("run-now"));

  /** @param {Needs} needs */
  constructor({ boot, bridge, heard }) {
    this.#boot = boot;
    this.#bridge = bridge;
    this.#heard = heard;
    const [again, later] = [element("run-again"), element("run-later")];
    later.addEventListener("click", () => {
      coverPage(false);
      again.hidden = false;
      again.focus();
    });
    again.addEventListener("click", () => this.#showCard());
    onEscape(element("run"), () => later.click());
    const read = drawForm(element("run-fields"), boot.tool?.inputSchema);
    element("run-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const args = event.isTrusted && !this.#button.disabled ? read() : null;
      if (args) void this.#run("run", args);
    });
  }

  /** The page listens now, or the person asks for the tool's answer as text. */
  begin() {
    const { tool, readOnly, lookOnly } = this.#boot;
    if (this.#started || tool === null) return;
    if (lookOnly) {
      const text = "You signed in with a link, so no tool runs. Sign in yourself to use the app.";
      say("look-only", "info", "You can look, but not act", text);
    } else if (readOnly) {
      void this.#run("open", defaults(tool.inputSchema));
    } else {
      this.#showCard();
    }
  }

  #showCard() {
    element("run-again").hidden = true;
    coverPage(true);
    arm(this.#button, 1000);
    element("run-title").focus();
    mark("quiet", "Waits for you");
  }

  /** @param {"open" | "run"} surface @param {import("./types.d.ts").Params} args */
  async #run(surface, args) {
    if (this.#started) return;
    this.#started = true;
    coverPage(false);
    element("run-again").hidden = true;
    if (surface === "run") focusPage();
    setBusy(true);
    mark("loading", "Running…");
    this.#bridge.notify("ui/notifications/tool-input", { arguments: args });
    const outcome = await callTool(this.#boot, surface, this.#boot.tool?.name ?? "", args);
    if (this.#bridge.closed) return; // meanwhile the page was closed, and that is what is shown
    setBusy(false);
    if (outcome.kind === "result") this.#deliver(outcome.result);
    else this.#failed(outcome);
    this.#heard(outcome);
  }

  /** @param {import("./types.d.ts").CallToolResult} result */
  #deliver(result) {
    this.#bridge.notify("ui/notifications/tool-result", result);
    if (result.isError) mark("warn", "The tool reported an error");
    else mark("ready", "Ready");
    if (!this.#bridge.ready) {
      const text = make("pre", textOf(result), "plain-result");
      text.tabIndex = 0;
      say("silent", "info", "The tool's answer, as text", "The page did not show it.", [text]);
    }
  }

  /** @param {import("./types.d.ts").Outcome} outcome */
  #failed(outcome) {
    const reason = sentence(outcome);
    this.#bridge.notify("ui/notifications/tool-cancelled", { reason });
    mark("down", "The tool did not run");
    const again = makeButton("Reload", () => element("reload").click());
    say("failed", "error", `${this.#boot.tool?.name ?? "The tool"} did not run`, reason, [again]);
  }

  /** Nothing came from the page: offer the tool's answer without it. */
  offerText() {
    const { tool, readOnly, lookOnly } = this.#boot;
    const text = "It may need something that a page here does not get, such as the network or storage.";
    const more = [];
    if (tool !== null && !lookOnly && !this.#started) {
      const label = readOnly ? "Show the answer as text" : "Run the tool for its text";
      more.push(makeButton(label, () => { unsay("silent"); this.begin(); }));
    }
    say("silent", "warn", "This page has not started", text, more);
    mark("warn", "Silent");
  }
}
