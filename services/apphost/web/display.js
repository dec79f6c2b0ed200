// Inline or full screen. Full screen is the browser's own, of the whole host page: the bar stays in
// sight, Escape always leads out, and the frame stays where it is (a moved frame would load anew).

import { isRecord } from "./rpc.js";
import { element } from "./stage.js";

/** @typedef {"inline" | "fullscreen"} Mode */

export class Display {
  #button = element("fullscreen");
  /** @type {Mode[]} */
  #allowed = [];

  /** @param {(change: import("./types.d.ts").McpUiHostContext) => unknown} tell */
  constructor(tell) {
    this.#button.onclick = () => void this.switchTo(this.mode === "inline" ? "fullscreen" : "inline");
    document.addEventListener("fullscreenchange", () => {
      this.#button.setAttribute("aria-pressed", String(this.mode === "fullscreen"));
      tell({ displayMode: this.mode });
    });
    this.learn(undefined);
  }

  /** @returns {Mode} */
  get mode() { return document.fullscreenElement ? "fullscreen" : "inline"; }

  /** What this browser can do. @returns {Mode[]} */
  get modes() { return document.fullscreenEnabled ? ["inline", "fullscreen"] : ["inline"]; }

  /** A page that names its modes is never put into another one. @param {unknown} capabilities */
  learn(capabilities) {
    const named = isRecord(capabilities) ? capabilities.availableDisplayModes : null;
    this.#allowed = this.modes.filter((mode) => !Array.isArray(named) || named.includes(mode));
    this.#button.hidden = !this.#allowed.includes("fullscreen");
  }

  /** Answers the mode that it then is. @param {unknown} wanted @returns {Promise<{ mode: Mode }>} */
  async switchTo(wanted) {
    try {
      // the browser itself asks for a press of the person's before it enters
      if (wanted === "fullscreen" && this.#allowed.includes(wanted)) {
        await document.documentElement.requestFullscreen();
      } else if (wanted === "inline" && this.mode === "fullscreen") {
        await document.exitFullscreen();
      }
    } catch {
      // it stays as it is, and the answer says so
    }
    return { mode: this.mode };
  }
}
