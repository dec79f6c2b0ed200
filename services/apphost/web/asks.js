// Calls of tools that may ask something back (MCP 2026-07-28, `input_required`): the host asks the
// person, on a card of its own, and sends the answers. Whoever made the call gets the last result.

import { callTool } from "./calls.js";
import { checkLink } from "./links.js";
import { Question } from "./question.js";
import { REFUSED } from "./rpc.js";
import { element, say } from "./stage.js";

const MAX_ROUNDS = 10;
const PAUSE_MS = 1000; // before a button can be pressed, before a server is asked again

/** @typedef {import("./types.d.ts").ServerQuestion} ServerQuestion */

export class Asks {
  #boot;
  #card = new Question("ask");
  /** One question after the other, whoever calls. @type {Promise<unknown>} */
  #turn = Promise.resolve();

  /** @param {import("./types.d.ts").Boot} boot */
  constructor(boot) { this.#boot = boot; }

  /**
   * @param {import("./types.d.ts").Surface} surface
   * @param {string} name @param {import("./types.d.ts").Params} args
   * @param {import("./calls.js").While} [meanwhile] an aborted call asks nothing more
   * @returns {Promise<import("./types.d.ts").Outcome>}
   */
  async call(surface, name, args, meanwhile) {
    let again;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const outcome = await callTool(this.#boot, surface, name, args, meanwhile, again);
      if (!outcome.asks) return outcome;
      const { questions, state } = outcome.asks;
      const turn = this.#turn.then(() => this.#answerAll(questions, name, meanwhile?.signal));
      this.#turn = turn;
      again = { answers: await turn, state };
    }
    return { error: { code: REFUSED, message: `${name} asked too often, and was given up.` } };
  }

  /** @param {ServerQuestion[]} questions @param {string} tool @param {AbortSignal} [signal] */
  async #answerAll(questions, tool, signal) {
    // nothing to ask: the server wants to be asked again later
    if (questions.length === 0) await new Promise((resolve) => { setTimeout(resolve, PAUSE_MS); });
    const answers = [];
    for (const question of questions) answers.push([question.key, await this.#answer(question, tool, signal)]);
    return Object.fromEntries(answers);
  }

  /** @param {ServerQuestion} question @param {string} tool @param {AbortSignal} [signal] */
  async #answer({ message, fields, url, refused }, tool, signal) {
    let href = "";
    try {
      if (refused) throw new Error(refused);
      if (url !== undefined) ({ href } = checkLink(url, location));
    } catch (error) {
      const title = `A question of ${this.#boot.name} was declined for you`;
      say("declined", "warn", title, /** @type {Error} */ (error).message);
      return { action: "decline" };
    }
    const texts = { tool, message, address: href };
    for (const [part, text] of Object.entries(texts)) element(`ask-${part}`).textContent = text;
    this.#card.draw(fields ?? []);
    const leave = () => this.#card.close();
    signal?.addEventListener("abort", leave);
    let answer = signal?.aborted ? undefined : await this.#card.ask(href ? "Open in a new tab" : "Send", PAUSE_MS);
    if (answer && href) {
      window.open(href, "_blank", "noopener,noreferrer");
      answer = await this.#card.ask("I am done there", PAUSE_MS);
    }
    signal?.removeEventListener("abort", leave);
    if (!answer) return { action: answer === null ? "decline" : "cancel" };
    return href ? { action: "accept" } : { action: "accept", content: answer };
  }
}
