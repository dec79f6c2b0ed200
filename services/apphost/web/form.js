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
  return Object.fromEntries(
    properties(schema)
      .filter((property) => "default" in property.schema)
      .map((property) => [property.name, property.schema.default]),
  );
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
    const row = make("div", "", "field");
    const label = make("label", required ? name : `${name} (optional)`);
    const input = control(property);
    input.id = `run-field-${index}`;
    label.htmlFor = input.id;
    row.append(label, input);
    const about = item.description ?? item.title;
    if (typeof about === "string") row.append(make("p", about.slice(0, 300), "field-hint"));
    place.append(row);
    return () => /** @type {const} */ ([name, value(property, input)]);
  });
  return () => {
    try {
      const entries = readers.map((read) => read()).filter(([, given]) => given !== undefined);
      return Object.fromEntries(entries);
    } catch {
      return null;
    }
  };
}

/** @param {Property} property */
function control({ schema, required }) {
  const given = schema.default;
  if (isChoice(schema)) {
    const select = document.createElement("select");
    if (!required) select.append(new Option("", ""));
    for (const choice of schema.enum) select.append(new Option(choice, choice));
    if (typeof given === "string") select.value = given;
    return select;
  }
  if (["string", "number", "integer", "boolean"].includes(String(schema.type))) {
    const input = document.createElement("input");
    input.autocomplete = "off";
    input.type = schema.type === "boolean" ? "checkbox" : schema.type === "string" ? "text" : "number";
    if (schema.type === "number") input.step = "any";
    if (schema.type === "boolean") input.checked = given === true;
    else if (given !== undefined) input.value = String(given);
    input.required = required && input.type === "number";
    return input;
  }
  const area = document.createElement("textarea");
  area.rows = 3;
  area.placeholder = "JSON";
  area.spellcheck = false;
  area.required = required;
  area.addEventListener("input", () => area.setCustomValidity(""));
  if (given !== undefined) area.value = JSON.stringify(given, null, 1);
  return area;
}

/** @param {Record<string, unknown>} schema @returns {schema is { enum: string[] }} */
function isChoice(schema) {
  return Array.isArray(schema.enum) && schema.enum.every((item) => typeof item === "string");
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
