// Tool calls, over this server's own routes. The paths are fixed by the page's policy: no other
// server's route can be reached from here, whatever the code says.

import { INVALID_PARAMS, REFUSED, Refusal, isRecord } from "./rpc.js";

/**
 * @param {import("./types.d.ts").Boot} boot
 * @param {import("./types.d.ts").Surface} surface
 * @param {string} name
 * @param {import("./types.d.ts").Params} args
 * @returns {Promise<import("./types.d.ts").Outcome>}
 */
export function callTool(boot, surface, name, args) {
  return askServer(boot.call, { name, arguments: args, page: boot.page, surface });
}

/**
 * One question over one of the bridge's routes.
 *
 * @param {string} path @param {object} body
 * @returns {Promise<import("./types.d.ts").Outcome>}
 */
export async function askServer(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
    });
    const answer = await response.json();
    if (response.ok && isRecord(answer.result)) {
      // the server's own result: it goes to the page whole, unread
      return { kind: "result", result: answer.result };
    }
    if (response.ok && isRecord(answer.error)) return { kind: "error", error: fault(answer.error) };
    return {
      kind: "problem",
      status: response.status,
      title: String(answer.title ?? "The request failed."),
      detail: String(answer.detail ?? ""),
    };
  } catch {
    const detail = "Check your connection, then reload.";
    return { kind: "problem", status: 0, title: "The console does not answer.", detail };
  }
}

/**
 * `tools/call` of the page. A name reaches this server only: the route carries the slug.
 *
 * @param {import("./types.d.ts").Boot} boot
 * @param {(outcome: import("./types.d.ts").Outcome) => void} heard
 * @returns {import("./types.d.ts").Answerer}
 */
export function answerCalls(boot, heard) {
  return async ({ name, arguments: args = {} }) => {
    if (typeof name !== "string" || name === "" || name.length > 256 || !isRecord(args)) {
      throw new Refusal(INVALID_PARAMS, "tools/call takes a name and an object of arguments.");
    }
    const outcome = await callTool(boot, "app", name, args);
    heard(outcome);
    return passOn(outcome);
  };
}

/** An outcome as the page's answer. @param {import("./types.d.ts").Outcome} outcome */
export function passOn(outcome) {
  if (outcome.kind === "result") return outcome.result;
  if (outcome.kind === "error") {
    throw new Refusal(outcome.error.code, outcome.error.message, outcome.error.data);
  }
  throw new Refusal(REFUSED, sentence(outcome));
}

/** Why a call brought no result, for people. @param {import("./types.d.ts").Outcome} outcome */
export function sentence(outcome) {
  if (outcome.kind === "problem") return `${outcome.title} ${outcome.detail}`.trim();
  return outcome.kind === "error" ? outcome.error.message : "";
}

/** @param {Record<string, unknown>} error @returns {import("./types.d.ts").RpcFault} */
function fault({ code, message, data }) {
  return {
    code: Number.isSafeInteger(code) ? Number(code) : REFUSED,
    message: typeof message === "string" ? message : "The server refused.",
    data,
  };
}
