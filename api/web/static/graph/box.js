// A box: its size, its outline and its texts, for the page, the file of SVG and the picture alike.
import { svg } from "./make.js";
import { outline, styleOf } from "./shapes.js";

export const WIDTH = 200;
export const HEIGHT = 46;
export const TEXT_X = -WIDTH / 2 + 34;

const FONT = "12px system-ui, sans-serif";
const LARGE = "22px system-ui, sans-serif";
const ROOM = WIDTH - 42;
const pen = document.createElement("canvas").getContext("2d");

/** The label, cut so that it fits into its box: in small letters, or in those that can be read from further away. */
export function line(node, isLarge = false) {
  const kept = isLarge ? "largeLine" : "line";
  if (node[kept] === undefined) {
    pen.font = isLarge ? LARGE : FONT;
    let letters = [...node.short];
    let text = node.short;
    while (letters.length > 1 && pen.measureText(text).width > ROOM) {
      letters = letters.slice(0, -1);
      text = `${letters.join("")}…`;
    }
    node[kept] = text;
  }
  return node[kept];
}

/** What the mark of a box says: how the words that the right answer needed fared. */
export const MARKS = {
  held: "has the needed words",
  lost: "the needed words were lost here",
  last: "the last that has the needed words",
};

/** What a box says to those who do not see it. Isolated, so that no text turns another. */
export function spoken(node, model) {
  const isolated = (text) => `\u2068${text}\u2069`;
  const count = (list) => list.filter((other) => model.isShown(other)).length;
  return [
    `${isolated(node.kind)}: ${isolated(node.label)}`,
    node.group && isolated(node.group),
    node.note && isolated(node.note),
    MARKS[node.mark],
    `made from ${count(node.into)}, used for ${count(node.out)}`,
    node.pinned && "pinned",
  ].filter(Boolean).join(", ");
}

/** The elements of a box around the origin. */
export function parts(node) {
  const said = { held: `${node.kind} ✓`, last: `${node.kind} ✓ the last`, lost: `✗ lost here` }[node.mark] ?? node.kind;
  const texts = [["graph-what", -5, said], ["graph-name", 13, line(node)], ["graph-large", 8, line(node, true)]].map(([name, y, text]) => {
    const element = svg("text", { class: name, x: TEXT_X, y, "unicode-bidi": "isolate" });
    element.textContent = text;
    return element;
  });
  return [
    svg("rect", { x: -WIDTH / 2, y: -HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 7 }),
    svg("path", { class: "graph-shape", d: outline(node.kind), transform: `translate(${-WIDTH / 2 + 18} 0)` }),
    ...texts,
  ];
}

/** A box of the page. */
export function card(node, model) {
  return svg(
    "g",
    {
      class: `graph-box graph-kind-${styleOf(node.kind)}${node.mark ? ` graph-${node.mark}` : ""}`,
      role: "button",
      tabindex: -1,
      "data-index": node.index,
      "aria-label": spoken(node, model),
    },
    ...parts(node),
  );
}
