// The strip under the bar, where the host asks the person for what a page wants. One question at a
// time, only after a press in the page, and the second half of a double click answers nothing.

import { REFUSED, Refusal } from "./rpc.js";
import { arm, element, focusPage, make, onEscape } from "./stage.js";

/**
 * @typedef {object} Question
 * @property {string} lead
 * @property {string} what the part that stands out
 * @property {string} tail
 * @property {string} all what the page asked for, whole
 * @property {string} press the word on the button
 */

export class Strip {
  #strip = element("link");
  #yes = /** @type {HTMLButtonElement} */ (element("link-open"));
  /** @type {((agreed: boolean) => void) | null} */
  #settle = null;

  constructor() {
    this.#yes.addEventListener("click", () => this.#settle?.(true));
    element("link-cancel").addEventListener("click", () => this.close());
    onEscape(this.#strip, () => this.close());
  }

  /**
   * Ask, and act on yes. Answers `{}`, or `{ isError: true }` when the person said no.
   *
   * @param {Question} question @param {() => unknown} act
   * @returns {Promise<{ isError?: boolean }>}
   */
  ask({ lead, what, tail, all, press }, act) {
    if (this.#settle) throw new Refusal(REFUSED, "Another question is open.");
    if (!navigator.userActivation.isActive) {
      throw new Refusal(REFUSED, "This happens on a person's click only.");
    }
    element("link-title").replaceChildren(lead, make("strong", what), tail);
    element("link-address").textContent = all;
    this.#yes.textContent = press;
    this.#strip.hidden = false;
    arm(this.#yes);
    this.#strip.focus();
    return new Promise((resolve) => {
      this.#settle = (agreed) => {
        this.#settle = null;
        if (this.#strip.contains(document.activeElement)) focusPage();
        this.#strip.hidden = true;
        if (agreed) act();
        resolve(agreed ? {} : { isError: true });
      };
    });
  }

  close() {
    this.#settle?.(false);
  }
}
