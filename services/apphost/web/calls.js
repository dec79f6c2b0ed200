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
 * @returns {Promise<import("./types.d.ts").Outcome>}
 */
export function callTool(boot, surface, name, args, meanwhile) {
  return askServer(boot.call, { name, arguments: args, page: boot.page, surface }, meanwhile);
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
    const inLines = progress && response.headers.get("Content-Type") === LINES;
    const answer = inLines ? await lastLine(response, progress) : await response.json();
    if (response.ok && isRecord(answer.result)) {
      // the server's own result: it goes to the page whole, unread
      return { kind: "result", result: answer.result };
    }
    if (response.ok && isRecord(answer.error)) return { kind: "error", error: fault(answer.error) };
    const problem = inLines && isRecord(answer.problem) ? answer.problem : answer;
    return {
      kind: "problem",
      status: Number(problem.status ?? response.status),
      title: String(problem.title ?? "The request failed."),
      detail: String(problem.detail ?? ""),
    };
  } catch {
    const detail = "Check your connection, then reload.";
    return { kind: "problem", status: 0, title: "The console does not answer.", detail };
  }
}

/**
 * `tools/call` of the page. A name reaches this server only: the route carries the slug. The token
 * under which the page wants to hear of progress stays here.
 *
 * @param {import("./types.d.ts").Boot} boot
 * @param {(outcome: import("./types.d.ts").Outcome) => void} heard
 * @returns {import("./types.d.ts").Answerer}
 */
export function answerCalls(boot, heard) {
  return async ({ name, arguments: args = {}, _meta }, { signal, notify }) => {
    if (typeof name !== "string" || name === "" || name.length > 256 || !isRecord(args)) {
      throw new Refusal(INVALID_PARAMS, "tools/call takes a name and an object of arguments.");
    }
    const token = isRecord(_meta) ? _meta.progressToken : undefined;
    /** @type {import("./types.d.ts").Progress} */
    const tell = (said) => notify("notifications/progress", { ...said, progressToken: token });
    const progress = isId(token) ? tell : undefined;
    const outcome = await callTool(boot, "app", name, args, { signal, progress });
    heard(outcome);
    return passOn(outcome);
  };
}

/** An outcome as the page's answer. @param {import("./types.d.ts").Outcome} outcome */
export function passOn(outcome) {
  if (outcome.kind === "result") return outcome.result;
  const { code, data } = outcome.kind === "error" ? outcome.error : { code: REFUSED };
  throw new Refusal(code, sentence(outcome), data);
}

/** Why a call brought no result, for people. @param {import("./types.d.ts").Outcome} outcome */
export function sentence(outcome) {
  if (outcome.kind === "problem") return `${outcome.title} ${outcome.detail}`.trim();
  return outcome.kind === "error" ? outcome.error.message : "";
}

/** @param {Record<string, unknown>} error @returns {import("./types.d.ts").RpcFault} */
function fault({ code, message, data }) {
  const text = typeof message === "string" ? message : "The server refused.";
  return { code: Number.isSafeInteger(code) ? Number(code) : REFUSED, message: text, data };
}
