// What a page may read: the tools it may call, and everything this server offers to read.

import { askServer, passOn } from "./calls.js";
import { INVALID_PARAMS, Refusal } from "./rpc.js";

const MAX_URI = 2048;

/**
 * @param {import("./types.d.ts").Boot} boot
 * @param {(outcome: import("./types.d.ts").Outcome) => void} heard
 * @param {Map<string, import("./types.d.ts").Answerer>} requests the table to add to
 * @returns the answerer of `resources/read`
 */
export function answerReads(boot, heard, requests) {
  /** @typedef {import("./types.d.ts").Asked} Asked */
  /** @param {string} method @param {object} body @param {Asked} [asked] */
  const ask = async (method, body, asked) => {
    const outcome = await askServer(`${boot.reads}/${method}`, body, { signal: asked?.signal });
    heard(outcome);
    return passOn(outcome);
  };
  for (const method of ["tools/list", "resources/list"]) {
    requests.set(method, ({ cursor }, asked) => {
      if (cursor === undefined) return ask(method, {}, asked);
      throw new Refusal(INVALID_PARAMS, "The list comes whole: there is no cursor.");
    });
  }
  /** @param {import("./types.d.ts").Params} params @param {Asked} [asked] */
  const readResource = ({ uri }, asked) => {
    if (typeof uri === "string" && uri !== "" && uri.length <= MAX_URI) {
      return ask("resources/read", { uri }, asked);
    }
    throw new Refusal(INVALID_PARAMS, "resources/read takes the uri of a resource.");
  };
  requests.set("resources/read", readResource);
  return readResource;
}
