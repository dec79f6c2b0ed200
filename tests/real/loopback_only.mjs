// Preloaded into each published server. They offer no setting for the address they listen on and
// take every interface; a test server has no business on the network. What asks somebody else,
// such as an encyclopedia, is refused as on a machine that is offline.
import net from "node:net";

const { listen } = net.Server.prototype;

/** @this {net.Server} */
net.Server.prototype.listen = function (first, ...rest) {
  const options = typeof first === "object" ? first : { port: Number(first) };
  const called = rest.filter((value) => typeof value === "function");
  return listen.call(this, { ...options, host: "127.0.0.1" }, ...called);
};

/** @this {net.Socket} */
net.Socket.prototype.connect = function () {
  // later, when whoever asked listens for errors
  setImmediate(() => this.destroy(new Error("this test server is offline")));
  return this;
};
