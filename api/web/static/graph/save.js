// Files of the whole graph, as far as it is not hidden: SVG made by calls and written out, PNG of a canvas.
import { HEIGHT, TEXT_X, WIDTH, line, parts } from "./box.js";
import { drawLine, pathOf } from "./line.js";
import { svg } from "./make.js";
import { shown } from "./model.js";
import { outline, styleOf } from "./shapes.js";
import { extent } from "./view.js";

const MARGIN = 24;
const PIXELS = 32_000_000;
const SIDE = 16_000;

const shownOf = (model) => ({
  nodes: model.nodes.filter((node) => model.isShown(node)),
  edges: model.edges.filter(({ source, target }) => model.isShown(source) && model.isShown(target)),
});

/** The graph as the text of an SVG file. */
export function svgText(model, colours) {
  const { nodes, edges } = shownOf(model);
  const box = extent(nodes);
  const [x, y, width, height] = [box.x - MARGIN, box.y - MARGIN, box.width + 2 * MARGIN, box.height + 2 * MARGIN];
  const root = svg("svg", { viewBox: `${x} ${y} ${width} ${height}`, width, height, "font-family": "sans-serif" });
  root.append(svg("rect", { x, y, width, height, fill: colours("paper") }));
  const lines = svg("g", { fill: "none", stroke: colours("edge"), "stroke-width": 1.2 });
  for (const edge of edges) {
    lines.append(svg("path", { class: "edge", d: pathOf(edge) }));
  }
  root.append(lines);
  for (const node of nodes) {
    const colour = colours(`kind-${styleOf(node.kind)}`);
    const [rect, shape, what, name] = parts(node);
    const title = svg("title");
    title.textContent = shown(`${node.kind}: ${node.label}`);
    for (const [element, attributes] of [
      [rect, { fill: colours("box"), stroke: colour }],
      [shape, { fill: colour }],
      [what, { fill: colours("soft"), "font-size": 10 }],
      [name, { fill: colours("ink"), "font-size": 12 }],
    ]) {
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    }
    root.append(svg("g", { class: "box", transform: `translate(${node.x} ${node.y})` }, title, rect, shape, what, name));
  }
  return new XMLSerializer().serializeToString(root);
}

/** The graph as a PNG file: as large as it is, or as a picture may be. */
export function pngBlob(model, colours) {
  const { nodes, edges } = shownOf(model);
  const box = extent(nodes);
  const [width, height] = [box.width + 2 * MARGIN, box.height + 2 * MARGIN];
  const scale = Math.min(2, SIDE / width, SIDE / height, Math.sqrt(PIXELS / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = colours("paper");
  pen.fillRect(0, 0, width, height);
  pen.translate(MARGIN - box.x, MARGIN - box.y);
  pen.strokeStyle = colours("edge");
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const edge of edges) {
    drawLine(pen, edge);
  }
  pen.stroke();
  for (const node of nodes) {
    paintBox(pen, node, colours);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}

function paintBox(pen, node, colours) {
  const colour = colours(`kind-${styleOf(node.kind)}`);
  pen.save();
  pen.translate(node.x, node.y);
  pen.beginPath();
  pen.roundRect(-WIDTH / 2, -HEIGHT / 2, WIDTH, HEIGHT, 7);
  pen.fillStyle = colours("box");
  pen.fill();
  pen.strokeStyle = colour;
  pen.stroke();
  for (const [ink, font, text, y] of [["soft", "10px sans-serif", node.kind, -5], ["ink", "12px sans-serif", line(node), 13]]) {
    pen.fillStyle = colours(ink);
    pen.font = font;
    pen.fillText(text, TEXT_X, y);
  }
  pen.translate(-WIDTH / 2 + 18, 0);
  pen.fillStyle = colour;
  pen.fill(new Path2D(outline(node.kind)));
  pen.restore();
}

/** Let the browser save a file, named after the page. */
export function save(blob, ending) {
  const name = document.title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name || "graph"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
