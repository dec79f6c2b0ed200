/** Draws the four states of the page: waiting, toys, nothing found, failed. Text nodes only. */

import { draw } from "./art.js";

/** @typedef {import("./shape.js").Toy} Toy */
/** @typedef {import("./words.js").Say} Say */
/** @typedef {import("./words.js").Word} Word */

const SKELETONS = 6;

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name
 * @param {(string | Node)[]} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, name, ...content) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...content);
  return made;
}

/** @param {string} label @param {() => void} pressed */
function button(label, pressed) {
  const made = element("button", "", label);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

/** What is on the page now. Every `show…` replaces all of it. */
export class Shelf {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} count the line that says how many toys there are
   */
  constructor(root, count) {
    this.root = root;
    this.count = count;
  }

  /** @param {Say} say */
  showWaiting(say) {
    this.#replace(say("loading"), element("ul", "toys waiting", ...Array.from({ length: SKELETONS }, () => {
      const card = element("li", "toy", element("div", "art"), element("div", "about"));
      card.setAttribute("aria-hidden", "true");
      return card;
    })));
    this.root.setAttribute("aria-busy", "true");
  }

  /**
   * @param {Say} say
   * @param {string} problem
   * @param {() => void} retry
   */
  showFailure(say, problem, retry) {
    const notice = element("div", "notice", draw("top"), element("p", "", problem), button(say("retry"), retry));
    notice.setAttribute("role", "alert");
    this.#replace("", notice);
  }

  /**
   * @param {Say} say
   * @param {string} query
   * @param {() => void} showAll
   */
  showNothing(say, query, showAll) {
    const words = query ? say("empty", { query }) : say("bare");
    this.#replace(say("many", { count: 0 }), element("div", "notice", draw("kite"), element("p", "", words),
      ...(query ? [button(say("all"), showAll)] : [])));
  }

  /**
   * @param {Say} say
   * @param {Toy[]} toys
   * @param {(toy: Toy, card: HTMLElement) => void} setAside
   */
  showToys(say, toys, setAside) {
    const cards = toys.map((toy) => this.#card(say, toy, setAside));
    this.#replace(toys.length === 1 ? say("one") : say("many", { count: toys.length }),
      element("ul", "toys", ...cards));
  }

  /**
   * Draws one toy anew and says something beside its button.
   * @param {Say} say
   * @param {HTMLElement} card
   * @param {Toy} toy
   * @param {(toy: Toy, card: HTMLElement) => void} setAside
   * @param {{message: string, bad: boolean}} said
   */
  redraw(say, card, toy, setAside, said) {
    const fresh = this.#card(say, toy, setAside);
    const line = fresh.querySelector(".said");
    if (line) {
      line.textContent = said.message;
      line.classList.toggle("bad", said.bad);
    }
    const hadFocus = card.contains(document.activeElement) || document.activeElement === document.body;
    card.replaceWith(fresh);
    const pressable = fresh.querySelector("button");
    if (hadFocus) (pressable?.disabled === false ? pressable : fresh).focus();
  }

  /** @param {Say} say @param {HTMLElement} card */
  showBusy(say, card) {
    const pressed = card.querySelector("button");
    if (!pressed) return;
    pressed.textContent = say("settingAside");
    pressed.setAttribute("aria-disabled", "true");
  }

  /** Moves the selection as an arrow key does. @param {string} key */
  move(key) {
    const cards = [...this.root.querySelectorAll(".toy[data-toy]")];
    const now = cards.findIndex((card) => card.classList.contains("selected"));
    const top = cards[0] instanceof HTMLElement ? cards[0].offsetTop : 0;
    const columns = cards.filter((card) => card instanceof HTMLElement && card.offsetTop === top).length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key] ?? 0;
    const next = cards[now < 0 ? 0 : now + step];
    if (!(next instanceof HTMLElement)) return;
    cards[now]?.classList.remove("selected");
    next.classList.add("selected");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} status @param {HTMLElement} content */
  #replace(status, content) {
    this.root.setAttribute("aria-busy", "false");
    this.root.replaceChildren(content);
    this.count.textContent = status;
  }

  /**
   * @param {Say} say
   * @param {Toy} toy
   * @param {(toy: Toy, card: HTMLElement) => void} setAside
   */
  #card(say, toy, setAside) {
    const art = element("div", "art", draw(toy.art));
    const stock = element("span", "stock", toy.left > 0 ? say("left", { left: toy.left }) : say("gone"));
    stock.dataset.level = toy.left > 2 ? "fine" : toy.left > 0 ? "low" : "none";
    const hold = button(toy.heldUntil ? say("held", { until: toy.heldUntil }) : say("setAside"), () => {
      if (hold.getAttribute("aria-disabled") !== "true") setAside(toy, card);
    });
    hold.disabled = Boolean(toy.heldUntil) || toy.left < 1;
    if (!toy.heldUntil) hold.setAttribute("aria-label", say("setAsideOf", { name: toy.name }));
    const said = element("p", "said");
    said.setAttribute("role", "status");
    const card = element("li", "toy", art, element("div", "about",
      element("h2", "", toy.name),
      element("p", "text", toy.description),
      element("p", "facts", stock, element("span", "", say("since", { added: toy.added }))),
      element("div", "deal", element("span", "price", toy.price), hold),
      said));
    card.dataset.toy = toy.id;
    card.tabIndex = -1;
    return card;
  }
}
