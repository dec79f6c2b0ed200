/** Small drawings, made of plain shapes, so that the page loads nothing. */

const SVG = "http://www.w3.org/2000/svg";
const C = {
  red: "#e0533a", coral: "#f28a6b", yellow: "#f5b82e", cream: "#fff1d6", blue: "#2d7fb5",
  sky: "#8fd0ef", green: "#3f9f76", leaf: "#7cc79a", wood: "#cf9354", bark: "#9a6433",
  ink: "#3a2b45", steel: "#8d9bad", silver: "#c9d2dc", plum: "#7b5aa3", rose: "#f09db0",
};

/** @typedef {[tag: string, attributes: Record<string, string | number>, text?: string]} Piece */

/** @param {string} d @param {string} fill @returns {Piece} */
const shape = (d, fill) => ["path", { d, fill }];
/** @param {string} d @param {string} stroke @param {number} width @returns {Piece} */
const line = (d, stroke, width) => [
  "path",
  { d, stroke, "stroke-width": width, fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round" },
];
/** @param {number} cx @param {number} cy @param {number} r @param {string} fill @returns {Piece} */
const dot = (cx, cy, r, fill) => ["circle", { cx, cy, r, fill }];
/** @param {number} cx @param {number} cy @param {number} rx @param {number} ry @param {string} fill @returns {Piece} */
const oval = (cx, cy, rx, ry, fill) => ["ellipse", { cx, cy, rx, ry, fill }];
/** @param {number} x @param {number} y @param {number} width @param {number} height @param {string} fill @param {number} [rx] @returns {Piece} */
const box = (x, y, width, height, fill, rx = 4) => ["rect", { x, y, width, height, fill, rx }];

/** @param {number} x @param {number} y @param {string} fill @param {string} letter @returns {Piece[]} */
const block = (x, y, fill, letter) => [
  box(x, y, 34, 34, fill, 5),
  box(x + 5, y + 5, 24, 24, C.cream, 3),
  ["text", { x: x + 17, y: y + 24, fill, "font-size": 20, "font-weight": 800, "text-anchor": "middle" }, letter],
];

/** @type {Record<string, Piece[]>} */
const DRAWINGS = {
  rocket: [
    shape("M50 88q10 28 20 0z", C.yellow), shape("M54 88q6 15 12 0z", C.cream),
    shape("M47 64 28 94l22-6zM73 64l19 30-22-6z", C.red),
    shape("M60 12c22 20 23 50 15 76H45c-8-26-7-56 15-76z", C.silver),
    shape("M60 12c9 8 14 17 16.500 27h-33C46 29 51 20 60 12z", C.red),
    dot(60, 56, 10, C.ink), dot(60, 56, 7, C.sky), line("M47 78h26", C.steel, 3),
  ],
  bear: [
    dot(37, 36, 15, C.bark), dot(83, 36, 15, C.bark), dot(37, 37, 8, C.rose), dot(83, 37, 8, C.rose),
    oval(60, 62, 38, 35, C.wood), oval(60, 75, 18, 14, C.cream), oval(60, 69, 6, 4.5, C.ink),
    dot(45, 56, 4, C.ink), dot(75, 56, 4, C.ink), line("M60 73v5m-8 2q8 7 16 0", C.ink, 2.5),
    shape("M34 92q26 14 52 0l-3 12q-23 9-46 0z", C.red), shape("M72 98l16 14-10 3-11-13z", C.coral),
  ],
  train: [
    dot(36, 20, 6, C.silver), dot(48, 12, 8, C.silver), dot(64, 11, 5, C.silver),
    box(31, 34, 13, 22, C.ink, 2), shape("M27 28h21l-3 9H30z", C.red),
    box(24, 48, 54, 28, C.green, 8), box(68, 34, 32, 42, C.blue, 4), box(63, 28, 42, 9, C.ink, 4),
    box(76, 43, 16, 14, C.cream, 3), line("M40 48v28M54 48v28", C.leaf, 3),
    box(18, 74, 86, 8, C.red, 4), shape("M18 76 8 94h16z", C.ink),
    ...[36, 60, 88].flatMap((x) => [dot(x, 88, 13, C.ink), dot(x, 88, 7, C.yellow), dot(x, 88, 2.5, C.ink)]),
    line("M36 88h24", C.silver, 3),
  ],
  kite: [
    shape("M64 8 36 44h28z", C.red), shape("M64 8l28 36H64z", C.yellow),
    shape("M36 44l28 44V44z", C.blue), shape("M92 44 64 88V44z", C.green),
    line("M64 8v80M36 44h56", C.cream, 2), line("M64 88q-22 4-16 14t-20 12", C.ink, 2),
    shape("M44 94l10 4-9 6zM54 98l10-2-8 9zM30 104l9 6-10 2zM29 112l-9 2 7 6z", C.coral),
  ],
  robot: [
    line("M60 22V10", C.steel, 4), dot(60, 9, 5, C.red), box(38, 20, 44, 32, C.silver, 8),
    dot(50, 35, 6, C.cream), dot(70, 35, 6, C.cream), dot(50, 35, 3, C.ink), dot(70, 35, 3, C.ink),
    line("M50 45h20", C.red, 3), line("M30 62 18 78M90 62l12 16", C.steel, 7),
    dot(17, 80, 6, C.yellow), dot(103, 80, 6, C.yellow), box(30, 55, 60, 38, C.blue, 8),
    box(40, 63, 40, 18, C.cream, 4), line("M45 76l8-8 7 6 8-8 7 7", C.red, 2.5),
    dot(45, 87, 2.5, C.yellow), dot(54, 87, 2.5, C.coral), box(40, 93, 13, 14, C.steel, 2),
    box(67, 93, 13, 14, C.steel, 2), box(36, 104, 20, 8, C.ink, 4), box(64, 104, 20, 8, C.ink, 4),
  ],
  top: [
    box(56, 14, 8, 28, C.bark, 3), dot(60, 14, 8, C.red), oval(60, 44, 22, 7, C.ink),
    shape("M18 56q42-28 84 0-6 14-18 24H36Q24 70 18 56z", C.plum),
    shape("M20 60q40 14 80 0-4 9-12 16-28 7-56 0-8-7-12-16z", C.yellow),
    shape("M32 76q28 7 56 0-9 9-21 16H53q-12-7-21-16z", C.red), shape("M53 92h14l-7 18z", C.ink),
    line("M12 98q10 8 24 9M108 98q-10 8-24 9", C.steel, 2.5),
  ],
  boat: [
    dot(78, 22, 7, C.silver), dot(90, 15, 5, C.silver), box(60, 30, 15, 22, C.yellow, 2),
    box(60, 36, 15, 6, C.ink, 0), box(38, 50, 46, 26, C.cream, 4), box(34, 45, 54, 7, C.blue, 3),
    dot(50, 63, 6, C.sky), dot(70, 63, 6, C.sky), shape("M14 72h94l-12 28H30z", C.red),
    line("M18 80h86", C.cream, 4), dot(24, 88, 4, C.ink),
    line("M6 104q9-8 18 0t18 0 18 0 18 0 18 0 18 0", C.blue, 5),
  ],
  blocks: [...block(43, 14, C.red, "A"), ...block(24, 52, C.blue, "B"), ...block(62, 52, C.green, "C"),
    line("M14 92h92", C.bark, 5)],
  drum: [
    line("M26 12l26 26M94 12 68 38", C.bark, 5), dot(25, 11, 6, C.cream), dot(95, 11, 6, C.cream),
    shape("M20 46v42q40 26 80 0V46z", C.red), line("M20 52l13 44 14-40 13 44 13-44 14 40 13-44", C.cream, 3),
    line("M20 88q40 26 80 0", C.yellow, 7), oval(60, 46, 40, 14, C.yellow), oval(60, 44, 35, 10, C.cream),
  ],
  dinosaur: [
    shape("M40 46l-6-13 14 5zM54 38l0-14 11 9zM28 60 18 50l15 1zM68 26l4-12 9 9z", C.yellow),
    shape("M8 96q4-44 38-50 14-3 18-14 5-16 24-15 20 1 20 14 0 12-20 13-3 10-1 22v36H73V84H50v18H36V86q-14 0-28 10z", C.green),
    shape("M46 68q10 10 26-2v12H50z", C.leaf), dot(90, 27, 3.5, C.ink), line("M96 37q6 0 10-4", C.ink, 2.5),
    oval(44, 60, 5, 4, C.leaf), oval(60, 54, 4, 3, C.leaf), line("M38 102h10M75 102h10", C.ink, 3),
  ],
  xylophone: [
    line("M18 36l84 12M18 92l84-12", C.bark, 6),
    .../** @type {[number, string][]} */ ([[22, C.red], [36, C.coral], [50, C.yellow], [64, C.green], [78, C.blue], [92, C.plum]])
      .flatMap(([x, fill], at) => [
        box(x - 5.500, 26 + at * 4, 11, 76 - at * 8, fill, 5), dot(x, 35 + at * 4, 1.800, C.cream),
        dot(x, 93 - at * 4, 1.800, C.cream),
      ]),
    line("M60 60l46 46", C.wood, 4), dot(58, 58, 8, C.ink),
  ],
  yoyo: [
    line("M66 60Q84 28 70 8", C.ink, 2.5), dot(70, 8, 4, C.ink), dot(56, 68, 38, C.bark),
    dot(56, 68, 34, C.red), dot(56, 68, 22, C.cream), dot(56, 68, 12, C.yellow), dot(56, 68, 4, C.ink),
    line("M34 52q8-12 22-13", C.coral, 5),
  ],
};

/** Something wrapped, for a toy this page has no drawing of. @type {Piece[]} */
const PARCEL = [
  box(22, 40, 76, 62, C.wood, 6), box(54, 40, 12, 62, C.red, 0), box(16, 32, 88, 18, C.bark, 5),
  box(54, 32, 12, 18, C.red, 0), line("M60 32q-22-22-24-8t24 8q22-22 24-8t-24 8", C.red, 5),
];

/**
 * A decorative picture of a toy.
 * @param {string} art
 */
export function draw(art) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 120 120");
  picture.setAttribute("aria-hidden", "true");
  for (const [tag, attributes, text] of Object.hasOwn(DRAWINGS, art) ? DRAWINGS[art] ?? PARCEL : PARCEL) {
    const piece = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) piece.setAttribute(name, String(value));
    if (text) piece.textContent = text;
    picture.append(piece);
  }
  return picture;
}
