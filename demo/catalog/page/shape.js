/**
 * Checks what the server answered before any of it is drawn. Returns null for anything else than
 * the shape of `demo/catalog/contract.py`.
 */

/**
 * @typedef {object} Toy
 * @property {string} id
 * @property {string} art
 * @property {string} name
 * @property {string} description
 * @property {string} price
 * @property {string} added
 * @property {number} left
 * @property {string | null} heldUntil
 */
/** @typedef {{locale: string, query: string, toys: Toy[]}} Catalog */
/** @typedef {{message: string, toy: Toy}} SetAside */

const MOST_TOYS = 500;
const LONGEST = 2000;

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === "string" && value.length <= LONGEST;

/** A language tag, or nothing: a malformed one must not choose a language. @param {unknown} value */
const isLocale = (value) => isText(value) && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(value);

/** @param {unknown} value @returns {Catalog | null} */
export function catalogOf(value) {
  if (!isRecord(value) || !isLocale(value.locale) || !isText(value.query)) return null;
  if (!Array.isArray(value.toys) || value.toys.length > MOST_TOYS) return null;
  const toys = value.toys.map(toyOf);
  if (toys.some((toy) => toy === null)) return null;
  return { locale: String(value.locale), query: value.query, toys: /** @type {Toy[]} */ (toys) };
}

/** @param {unknown} value @returns {SetAside | null} */
export function setAsideOf(value) {
  if (!isRecord(value) || !isText(value.message)) return null;
  const toy = toyOf(value.toy);
  return toy && { message: value.message, toy };
}

/** @param {unknown} value @returns {Toy | null} */
function toyOf(value) {
  if (!isRecord(value)) return null;
  const { id, art, name, description, price, added, left, heldUntil } = value;
  if (!isText(id) || !isText(art) || !isText(name) || !isText(description)) return null;
  if (!isText(price) || !isText(added) || !Number.isInteger(left)) return null;
  if (heldUntil !== null && !isText(heldUntil)) return null;
  return { id, art, name, description, price, added, left: Number(left), heldUntil };
}
