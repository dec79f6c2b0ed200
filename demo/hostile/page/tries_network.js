"use strict";
/* global room */

/** Requests of every kind, to an outside address and to the console itself. */
(() => {
  const { attempt, escaped, sent, watched, sink, home } = room;
  const KIND = "The network";
  let number = 0;
  /** A different address for each attempt, so that a log tells which one arrived. @param {string} id */
  const out = (id) => `${sink}/${id}?n=${++number}`;
  /** An address of the console. @param {string} path */
  const inside = (path) => new URL(path, home).href;

  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
   */
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  /**
   * A request with an answer: to have any is an escape.
   * @param {string} id
   * @param {string} says
   * @param {(address: string) => unknown} request
   * @param {string} [address]
   */
  function request(id, says, request, address = out(id)) {
    attempt(KIND, id, says, () => watched(address, async (escape) => escape(await request(address))));
  }

  /**
   * Something that loads: its load is an escape.
   * @param {string} id
   * @param {string} says
   * @param {(address: string) => HTMLElement} build
   * @param {string} [address]
   */
  function element(id, says, build, address = out(id)) {
    attempt(KIND, id, says, async () => {
      const built = build(address);
      const end = await watched(address, (escape) => {
        built.addEventListener("load", () => escape("it loaded"));
        document.head.append(built);
      });
      built.remove();
      return end;
    });
  }

  /** Its return value means queued, not delivered. @param {string} id @param {string} says @param {string} url */
  function beacon(id, says, url) {
    attempt(KIND, id, says, () => watched(url, () => void navigator.sendBeacon(url, "{}")));
  }

  /**
   * A style that loads something.
   * @param {string} id
   * @param {string} says
   * @param {(address: string) => string} rule
   */
  function style(id, says, rule) {
    attempt(KIND, id, says, async () => {
      const address = out(id);
      const styled = make("style", { textContent: rule(address) });
      const end = await watched(address, () => document.head.append(styled));
      styled.remove();
      return end;
    });
  }

  request("fetch", "fetch an outside address", (url) => fetch(url, { mode: "no-cors" }));
  request("fetch-keepalive", "fetch with keepalive", (url) => fetch(url, { mode: "no-cors", keepalive: true }));
  request("fetch-console", "Call a tool on the console's own route", (url) => fetch(url, {
    method: "POST",
    credentials: "include",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "list_toys", arguments: {} }),
  }), inside("/apps/catalog/tools/call"));
  request("fetch-console-page", "Read the console's home page", (url) => fetch(url, { credentials: "include" }), inside("/"));
  request("xhr", "XMLHttpRequest", (url) => new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.onload = () => resolve(xhr.status);
    xhr.onerror = () => reject(new Error("network error"));
    xhr.open("GET", url);
    xhr.send();
  }));
  request("import", "import() a module", (url) => import(url));
  request("websocket", "WebSocket", (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("no connection"));
  }), out("websocket").replace(/^http/, "ws"));
  request("event-source", "EventSource", (url) => new Promise((resolve, reject) => {
    const source = new EventSource(url);
    source.onopen = resolve;
    source.onerror = () => (source.close(), reject(new Error("no connection")));
  }));
  request("web-transport", "WebTransport", async (url) => {
    const transport = new (/** @type {any} */ (self).WebTransport)(url);
    transport.closed.catch(() => undefined);
    await transport.ready;
  }, out("web-transport").replace(/^http:/, "https:"));

  beacon("beacon", "sendBeacon", out("beacon"));
  beacon("beacon-console", "sendBeacon to the console's own route", inside("/apps/catalog/tools/call?beacon"));

  element("script", "External script", (src) => make("script", { src }));
  element("module", "External module", (src) => make("script", { src, type: "module" }));
  element("stylesheet", "External stylesheet", (href) => make("link", { rel: "stylesheet", href }));
  element("preload", "Preload", (href) => make("link", { rel: "preload", as: "image", href }));
  element("prefetch", "Prefetch", (href) => make("link", { rel: "prefetch", href }));
  element("manifest", "Web manifest", (href) => make("link", { rel: "manifest", href }));
  element("image", "Image", (src) => make("img", { src }));
  element("console-image", "Image from the console", (src) => make("img", { src }), inside("/static/mark.svg"));
  element("media", "Sound", (src) => make("audio", { src }));
  style("css-import", "@import in a style", (url) => `@import "${url}";`);
  style("css-image", "Image in a style", (url) => `body { background-image: url("${url}"); }`);
  request("font", "Font", (url) => new FontFace("room", `url("${url}")`).load());

  attempt(KIND, "worker", "Worker with importScripts", () => watched("blob", (escape) => {
    const code = `try { importScripts("${out("worker")}"); postMessage("in") } catch { postMessage("") }`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => data && escape("importScripts ran");
  }));
  attempt(KIND, "preconnect", "Preconnect and DNS prefetch", async () => {
    for (const rel of ["preconnect", "dns-prefetch"]) document.head.append(make("link", { rel, href: sink }));
    await room.pause(100);
    return sent();
  });
  attempt(KIND, "webrtc", "WebRTC: ask a server for this machine's address", async () => {
    const { hostname, port } = new URL(sink);
    const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:${hostname}:${port || 80}` }] });
    const found = new Promise((resolve) => {
      peer.onicecandidate = ({ candidate }) => candidate?.type === "srflx" && resolve(candidate.candidate);
      setTimeout(() => resolve(null), 700);
    });
    peer.createDataChannel("out");
    await peer.setLocalDescription(await peer.createOffer());
    const candidate = await found;
    peer.close();
    return candidate ? escaped(String(candidate)) : sent();
  });
  attempt(KIND, "eval", "Run code from a string", () => escaped(String(new Function("return 'it ran'")())));
})();
