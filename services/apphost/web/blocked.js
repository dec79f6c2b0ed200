// What a browser blocked inside the page. Only the page's own document hears of it; strad's lines at
// its top pass it on, and so could the page itself: it is shown as what it is, the page's word.

const MOST = 20;
const LONGEST = 300;

export class Blocked {
  /** @type {[string, string][]} what, and what helps */
  facts = [];
  #remedies;

  /** @param {Record<string, string>} remedies by directive; "" for all others */
  constructor(remedies) { this.#remedies = new Map(Object.entries(remedies)); }

  /** @param {import("./types.d.ts").Params} params of `x-strad/blocked` @returns {string} in words */
  add({ directive, what }) {
    // text or nothing: an object's own `toString` may throw
    const [by = "", text = ""] = [directive, what].map((word) => typeof word === "string" ? word.slice(0, LONGEST) : "");
    const remedy = `${this.#remedies.get(by) ?? this.#remedies.get("")}`;
    const line = `${by} ${text} ${remedy.replaceAll("{origin}", URL.parse(text)?.origin ?? text)}`;
    if (this.facts.length < MOST) this.facts.push(["Blocked", line]);
    return line;
  }
}
