// Tool calls, over this server's own routes. The paths are fixed by the page's policy: no other
// server's route can be reached from here, whatever the code says.

import { LINES, lastLine } from "./lines.js";
import { INVALID_PARAMS, REFUSED, Refusal, isId, isRecord } from "./rpc.js";

/** @typedef {{ signal?: AbortSignal | undefined, progress?: import("./types.d.ts").Progress | undefined }} While */

/**
 * @param {import("./types.d.ts").Boot} boot
 * @param {import("./types.d.ts").Surface} surface
 * @param {string} name
 * @param {import("./types.d.ts").Params} args
 * @param {While} [meanwhile]
 * @param {import("./types.d.ts").Again} [again] the same call once more, with what the server asked
 * @returns {Promise<import("./types.d.ts").Outcome>}
 */
export function callTool(boot, surface, name, args, meanwhile, again) {
  const body = { name, arguments: args, page: boot.page, surface, ...(again && { again }) };
  return askServer(boot.call, body, meanwhile);
}

/**
 * One question over one of the bridge's routes. An aborted one ends at the server too.
 *
 * @param {string} path @param {object} body @param {While} [meanwhile]
 * @returns {Promise<import("./types.d.ts").Outcome>}
 */
export async function askServer(path, body, { signal, progress } = {}) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(progress && { Accept: LINES }) },
      body: JSON.stringify(body),
      redirect: "error",
      signal: signal ?? null,
    });
    const answer = await lastLine(response, progress);
    return response.ok ? answer : { problem: answer };
  } catch {
    const detail = "Check your connection, then reload.";
    return { problem: { status: 0, title: "The console does not answer.", detail } };
  }
}

/**
 * `tools/call` of the page. A name reaches this server only: the route carries the slug. The token
 * under which the page wants to hear of progress stays here.
 *
 * @param {import("./asks.js").Asks} asks
 * @param {(outcome: import("./types.d.ts").Outcome) => void} heard
 * @returns {import("./types.d.ts").Answerer}
 */
export function answerCalls(asks, heard) {
  return async ({ name, arguments: args = {}, _meta }, { signal, notify }) => {
    if (typeof name !== "string" || name === "" || name.length > 256 || !isRecord(args)) {
      throw new Refusal(INVALID_PARAMS, "tools/call takes a name and an object of arguments.");
    }
    const token = isRecord(_meta) ? _meta.progressToken : undefined;
    /** @type {import("./types.d.ts").Progress} */
    const tell = (said) => notify("notifications/progress", { ...said, progressToken: token });
    const progress = isId(token) ? tell : undefined;
    const outcome = await asks.call("app", name, args, { signal, progress });
    heard(outcome);
    return passOn(outcome);
  };
}

/** An outcome as the page's answer: a result goes to it whole. @param {import("./types.d.ts").Outcome} outcome */
export function passOn(outcome) {
  if (outcome.result) return outcome.result;
  throw new Refusal(outcome.error?.code ?? REFUSED, sentence(outcome), outcome.error?.data);
}

/** Why a call brought no result, for people. @param {import("./types.d.ts").Outcome} outcome */
export function sentence({ problem, error }) {
  return problem ? `${problem.title} ${problem.detail ?? ""}`.trim() : `${error?.message}`;
}
