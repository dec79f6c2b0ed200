// A question of the host's to the person, on the host's own surface: one yes, one no, Escape leaves.

import { drawForm } from "./form.js";
import { element, focusPage, onEscape } from "./stage.js";

/** @typedef {import("./types.d.ts").Params | null | undefined} Answer a yes with what the form holds; null: no; undefined: left */

export class Question {
  #part;
  #yes;
  #armed = 0;
  #read = () => /** @type {import("./types.d.ts").Params | null} */ ({});
  /** @type {((answer: Answer) => void) | null} */
  #settle = null;

  /** @param {string} id of an element that is a form, or holds one */
  constructor(id) {
    this.#part = element(id);
    this.#yes = /** @type {HTMLButtonElement} */ (this.#part.querySelector("[type=submit]"));
    this.#part.addEventListener("submit", (event) => {
      event.preventDefault();
      const answer = event.isTrusted && !this.#yes.disabled ? this.#read() : null;
      if (answer) this.close(answer);
    });
    this.#part.querySelector(".actions [type=button]")?.addEventListener("click", () => this.close(null));
    onEscape(this.#part, () => this.close());
  }

  get isOpen() { return this.#settle !== null; }

  /** @param {import("./types.d.ts").Field[]} fields what is to be filled in with a yes */
  draw(fields) {
    this.#read = drawForm(/** @type {HTMLElement} */ (this.#part.querySelector(".run-fields")), fields);
  }

  /**
   * Show it. The yes waits `ms` before it can be pressed, so that the second half of a double click,
   * aimed at the page, does not land on it. A page under a card cannot be reached by Tab.
   *
   * @param {string} press the word on the yes @param {number} ms @returns {Promise<Answer>}
   */
  ask(press, ms) {
    this.#yes.textContent = press;
    this.#yes.disabled = true;
    clearTimeout(this.#armed);
    this.#armed = setTimeout(() => { this.#yes.disabled = false; }, ms);
    this.#show(true);
    (this.#part.querySelector("h2") ?? this.#part).focus();
    return new Promise((resolve) => { this.#settle = resolve; });
  }

  /** @param {Answer} [answer] */
  close(answer) {
    if (this.#part.contains(document.activeElement)) focusPage();
    this.#show(false);
    this.#settle?.(answer);
    this.#settle = null;
  }

  /** @param {boolean} open */
  #show(open) {
    this.#part.hidden = !open;
    const covered = document.querySelector(".stage-cover:not([hidden])") !== null;
    document.querySelector("iframe")?.toggleAttribute("inert", covered);
  }
}
