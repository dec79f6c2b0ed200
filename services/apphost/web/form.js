// A form from a tool's input schema (JSON Schema), for the person's own Run. Simple kinds get a
// field of their own, everything else a field for JSON. Nothing of the schema becomes markup.

import { isRecord } from "./rpc.js";
import { make } from "./stage.js";

/** @typedef {{ name: string, schema: Record<string, unknown>, required: boolean }} Property */

/** @param {unknown} schema @returns {Property[]} */
function properties(schema) {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, item]) => ({
    name,
    schema: isRecord(item) ? item : {},
    required: required.includes(name),
  }));
}

/** The arguments that a schema's defaults make. @param {unknown} schema @returns {import("./types.d.ts").Params} */
export function defaults(schema) {
  // fromEntries makes own properties only: `__proto__` in a schema is a name like any other
  const known = properties(schema).filter((property) => "default" in property.schema);
  return Object.fromEntries(known.map(({ name, schema: { default: given } }) => [name, given]));
}

/**
 * Draw the fields into a place, filled with defaults. Gives a reader of the arguments, which
 * returns null (and says so at the field) while something cannot be read.
 *
 * @param {HTMLElement} place
 * @param {unknown} schema
 * @returns {() => import("./types.d.ts").Params | null}
 */
export function drawForm(place, schema) {
  const readers = properties(schema).map((property, index) => {
    const { name, schema: item, required } = property;
    const input = Object.assign(control(property), { id: `run-field-${index}` });
    const label = make("label", required ? name : `${name} (optional)`);
    label.htmlFor = input.id;
    const row = make("div", "", "field");
    row.append(label, input);
    const about = item.description ?? item.title;
    if (typeof about === "string") row.append(make("p", about.slice(0, 300), "field-hint"));
    place.append(row);
    return () => /** @type {const} */ ([name, value(property, input)]);
  });
  return () => {
    try {
      return Object.fromEntries(readers.map((read) => read()).filter(([, given]) => given !== undefined));
    } catch {
      return null;
    }
  };
}

/** @param {Property} property */
function control({ schema, required }) {
  const given = schema.default;
  if (Array.isArray(schema.enum) && schema.enum.every((item) => typeof item === "string")) {
    const select = document.createElement("select");
    if (!required) select.append(new Option("", ""));
    for (const choice of schema.enum) select.append(new Option(choice, choice));
    if (typeof given === "string") select.value = given;
    return select;
  }
  if (["string", "number", "integer", "boolean"].includes(String(schema.type))) {
    const type = schema.type === "boolean" ? "checkbox" : schema.type === "string" ? "text" : "number";
    const input = Object.assign(document.createElement("input"), { type, autocomplete: "off" });
    input.required = required && type === "number";
    if (schema.type === "number") input.step = "any";
    if (type === "checkbox") input.checked = given === true;
    else if (given !== undefined) input.value = String(given);
    return input;
  }
  const look = { rows: 3, placeholder: "JSON", spellcheck: false, required };
  const area = Object.assign(document.createElement("textarea"), look);
  area.addEventListener("input", () => area.setCustomValidity(""));
  if (given !== undefined) area.value = JSON.stringify(given, null, 1);
  return area;
}

/**
 * The value of one field, undefined when it is left out. Throws when it is no JSON.
 *
 * @param {Property} property
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} input
 */
function value({ schema, required }, input) {
  if (input instanceof HTMLInputElement && input.type === "checkbox") {
    return input.checked || required || "default" in schema ? input.checked : undefined;
  }
  if (input.value === "" && !(required && schema.type === "string")) return undefined;
  if (input instanceof HTMLInputElement && input.type === "number") return Number(input.value);
  if (!(input instanceof HTMLTextAreaElement)) return input.value;
  try {
    return JSON.parse(input.value);
  } catch (error) {
    input.setCustomValidity("This is not JSON.");
    input.reportValidity();
    throw error;
  }
}
