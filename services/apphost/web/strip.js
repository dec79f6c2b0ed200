// The strip under the bar, where the host asks the person for what a page wants: one question at a
// time, and only after a press in the page.

import { Question } from "./question.js";
import { REFUSED, Refusal } from "./rpc.js";
import { element, make } from "./stage.js";

/**
 * @typedef {object} Wish
 * @property {string} lead
 * @property {string} what the part that stands out
 * @property {string} tail
 * @property {string} all what the page asked for, whole
 * @property {string} press the word on the button
 */

export class Strip extends Question {
  constructor() { super("link"); }

  /**
   * Ask, and act on yes. Answers `{}`, or `{ isError: true }` when the person said no.
   *
   * @param {Wish} wish @param {() => unknown} act
   * @returns {Promise<{ isError?: boolean }>}
   */
  async offer({ lead, what, tail, all, press }, act) {
    if (this.isOpen) throw new Refusal(REFUSED, "Another question is open.");
    if (!navigator.userActivation.isActive) {
      throw new Refusal(REFUSED, "This happens on a person's click only.");
    }
    element("link-title").replaceChildren(lead, make("strong", what), tail);
    element("link-address").textContent = all;
    const agreed = await this.ask(press, 700);
    if (agreed) act();
    return agreed ? {} : { isError: true };
  }
}
