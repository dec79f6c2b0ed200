// The bridge to one page: it answers requests from a table, hears notifications from another, and
// holds back what the host has to say until the page is ready to listen.

import { Bucket, INVALID_REQUEST, METHOD_NOT_FOUND, REFUSED, Refusal, readMessage } from "./rpc.js";

const MAX_PENDING = 16;
const MAX_DROPPED = 1000;

/**
 * @typedef {object} Tables
 * @property {Map<string, import("./types.d.ts").Answerer>} requests
 * @property {Map<string, import("./types.d.ts").Listener>} notifications
 * @property {(who: "page" | "host", method: string, fate: string) => unknown} passed one message did
 * @property {() => void} flooded the page sends far more than anybody could read
 */

export class Bridge {
  /** @type {import("./types.d.ts").Port | null} */
  #port = null;
  /** @type {{ method: string, params: object }[]} */
  #held = [];
  #ready = false;
  /** @type {Map<import("./types.d.ts").Id, () => void>} what the host has asked */
  #asked = new Map();
  #pending = 0;
  /** @type {Map<import("./types.d.ts").Id, AbortController>} what the page has asked */
  #running = new Map();
  #dropped = 0;
  #bucket = new Bucket(50, 200);
  #tables;

  /** @param {Tables} tables */
  constructor(tables) { this.#tables = tables; }

  get ready() { return this.#ready; }

  get closed() { return this.#port === null; }

  /** @param {import("./types.d.ts").Port} port */
  open(port) { this.#port = port; }

  close() {
    this.#port?.close();
    this.#port = null;
    this.#held = [];
    for (const abort of this.#running.values()) abort.abort();
  }

  /** The page has initialized: say what was held back, in order. Later ones change nothing. */
  release() {
    this.#ready = true;
    for (const { method, params } of this.#held.splice(0)) this.notify(method, params);
  }

  /** @param {string} method @param {object} params */
  notify(method, params) {
    if (!this.#ready) return void this.#held.push({ method, params });
    this.#port?.send({ jsonrpc: "2.0", method, params });
    this.#tables.passed("host", method, "");
  }

  /**
   * Ask the page, and wait for an answer of any kind, `ms` at most. (Most pages do not know what
   * they are asked, so what they answer says nothing.) A page that does not listen is not asked.
   *
   * @param {string} method @param {object} params @param {number} ms @returns {Promise<void>}
   */
  ask(method, params, ms) {
    if (!this.#ready || this.#port === null) return Promise.resolve();
    const id = `strad-${crypto.randomUUID()}`;
    this.#port.send({ jsonrpc: "2.0", id, method, params });
    this.#tables.passed("host", method, "");
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      setTimeout(resolve, ms);
    });
  }

  /** @param {unknown} data whatever the page sent */
  hear(data) {
    if (this.#port === null) return;
    if (!this.#bucket.take(performance.now())) {
      this.#dropped += 1;
      if (this.#dropped > MAX_DROPPED) this.#tables.flooded();
      return;
    }
    const message = readMessage(data);
    if (message.kind === "notification" && message.method === "notifications/cancelled") {
      this.#running.get(/** @type {import("./types.d.ts").Id} */ (message.params.requestId))?.abort();
    } else if (message.kind === "notification") {
      const listener = this.#tables.notifications.get(message.method);
      this.#tables.passed("page", message.method, listener ? "" : "ignored");
      listener?.(message.params);
    } else if (message.kind === "request") {
      void this.#answer(message.id, message.method, message.params);
    } else if (message.kind === "answer") {
      this.#asked.get(message.id)?.();
    } else if (message.kind === "malformed") {
      this.#refuse("a malformed request", message.id, INVALID_REQUEST, "This is not a request.");
    }
  }

  /** @param {import("./types.d.ts").Id} id @param {string} method @param {import("./types.d.ts").Params} params */
  async #answer(id, method, params) {
    const answerer = this.#tables.requests.get(method);
    if (!answerer) return this.#refuse(method, id, METHOD_NOT_FOUND, "not supported");
    if (this.#pending >= MAX_PENDING) {
      return this.#refuse(method, id, REFUSED, `More than ${MAX_PENDING} requests at once.`);
    }
    this.#pending += 1;
    const abort = new AbortController();
    this.#running.set(id, abort);
    const { signal } = abort;
    /** @param {string} method @param {object} params */
    const notify = (method, params) => {
      if (this.#ready && !signal.aborted) this.#port?.send({ jsonrpc: "2.0", method, params });
    };
    try {
      const result = await answerer(params, { signal, notify });
      if (signal.aborted) return;
      this.#port?.send({ jsonrpc: "2.0", id, result });
      this.#tables.passed("page", method, "ok");
    } catch (error) {
      if (signal.aborted) return; // nobody waits for it any more
      if (error instanceof Refusal) this.#refuse(method, id, error.code, error.message, error.data);
      else this.#refuse(method, id, REFUSED, "Something went wrong in the console.");
    } finally {
      if (signal.aborted) this.#tables.passed("page", method, "cancelled");
      this.#pending -= 1;
      if (this.#running.get(id) === abort) this.#running.delete(id);
    }
  }

  /**
   * @param {string} method @param {import("./types.d.ts").Id} id
   * @param {number} code @param {string} message @param {unknown} [data]
   */
  #refuse(method, id, code, message, data) {
    const error = data === undefined ? { code, message } : { code, message, data };
    this.#port?.send({ jsonrpc: "2.0", id, error });
    this.#tables.passed("page", method, `refused: ${message} (${code})`);
  }
}
