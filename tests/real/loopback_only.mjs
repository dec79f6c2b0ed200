// Preloaded into each published server. They offer no setting for the address they listen on and
// take every interface; a test server has no business on the network.
import net from "node:net";

const { listen } = net.Server.prototype;

/** @this {net.Server} */
net.Server.prototype.listen = function (first, ...rest) {
  const options = typeof first === "object" ? first : { port: Number(first) };
  const called = rest.filter((value) => typeof value === "function");
  return listen.call(this, { ...options, host: "127.0.0.1" }, ...called);
};
