// JSON-RPC 2.0 as a page may send it: shape, size and rate. Nothing here throws on bad input.

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const REFUSED = -32000;

const MAX_SIZE = 1024 * 1024;
const MAX_FILES_SIZE = 16 * MAX_SIZE; // what may be saved, in base64
const MAX_DEPTH = 64;
const MAX_METHOD = 64;
const MAX_ID = 256;

/** Thrown by an answerer: the page gets this error. */
export class Refusal extends Error {
  /** @param {number} code @param {string} message @param {unknown} [data] */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isRecord(value) { return typeof value === "object" && value !== null && !Array.isArray(value); }

/**
 * The size of a value as JSON, roughly; Infinity when it is none, or larger than the budget.
 * Stops early: a page must not make the host walk what the host will not take.
 *
 * @param {unknown} value @param {number} budget @param {number} [depth] @returns {number}
 */
export function jsonSize(value, budget, depth = 0) {
  if (value === null || typeof value === "boolean" || value === undefined) return 5;
  if (typeof value === "number") return Number.isFinite(value) ? 8 : Infinity;
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || depth >= MAX_DEPTH) return Infinity;
  const isList = Array.isArray(value);
  if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return Infinity;
  // a hole in a list is no entry, and is written as null: a long empty list would be gigabytes
  let size = 2 + (isList ? 5 * Math.max(0, value.length - Object.keys(value).length) : 0);
  for (const [key, item] of Object.entries(value)) {
    size += 2 + (isList ? 0 : key.length + 2);
    if (size <= budget) size += jsonSize(item, budget - size, depth + 1);
    if (size > budget) return Infinity;
  }
  return size;
}

/** @param {unknown} data @returns {import("./types.d.ts").Incoming} */
export function readMessage(data) {
  if (!isRecord(data) || data.jsonrpc !== "2.0") return { kind: "ignored" };
  const { id, method, params } = data;
  const named = isId(id);
  const most = method === "ui/download-file" ? MAX_FILES_SIZE : MAX_SIZE;
  /** @type {import("./types.d.ts").Incoming} */
  const odd = named ? { kind: "malformed", id } : { kind: "ignored" };
  if (jsonSize(data, most) > most) return odd;
  if ("result" in data || "error" in data) return named ? { kind: "answer", id } : { kind: "ignored" };
  const whole = typeof method === "string" && method.length > 0 && method.length <= MAX_METHOD;
  const given = params ?? {};
  if (!whole || !isRecord(given) || params === null || (id !== undefined && !named)) return odd;
  // id 0 is an id: the official SDK's first request has it
  if (named) return { kind: "request", id, method, params: given };
  return { kind: "notification", method, params: given };
}

/** @param {unknown} id @returns {id is import("./types.d.ts").Id} */
export function isId(id) { return Number.isSafeInteger(id) || (typeof id === "string" && id.length <= MAX_ID); }

/** A token bucket: `rate` a second, `burst` at once. */
export class Bucket {
  #level;
  #at = 0;

  /** @param {number} rate @param {number} burst */
  constructor(rate, burst) {
    this.rate = rate;
    this.burst = burst;
    this.#level = burst;
  }

  /** @param {number} now milliseconds @returns {boolean} whether one more may pass */
  take(now) {
    this.#level = Math.min(this.burst, this.#level + ((now - this.#at) / 1000) * this.rate);
    this.#at = now;
    if (this.#level < 1) return false;
    this.#level -= 1;
    return true;
  }
}
