// What is in sight: edges on a canvas, and above it boxes as elements. From far away boxes are drawn on the canvas too.
import { HEIGHT, WIDTH, card, spoken } from "./box.js";
import { drawLine } from "./line.js";
import { html, svg } from "./make.js";
import { outline, styleOf } from "./shapes.js";

const FAR = 0.32;
const MANY = 400;
const LEAST = 0.01;
const MOST = 3;
const READABLE = 0.85;
/** Below this scale, boxes say their names in large letters and nothing else. */
const LARGE = 0.72;
const MARGIN = 40;

export class View {
  constructor(model, label) {
    this.model = model;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.focused = null;
    this.selected = null;
    this.cards = new Map();
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.layer = svg("g");
    this.svg = svg("svg", { role: "group", "aria-label": label }, this.layer);
    this.stage = html("div", { class: "graph-stage" }, this.canvas, this.svg);
    /** Kept when all in sight has been drawn for the first time: not before the browser says how large the stage is. */
    this.drawn = new Promise((resolve) => {
      this.tellDrawn = resolve;
    });
    new ResizeObserver(() => this.#resized()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  /** Read the colours of the style sheet, which the canvas does not know. */
  recolour() {
    const style = getComputedStyle(this.stage);
    this.colours = (name) => style.getPropertyValue(`--graph-${name}`).trim();
    this.draw();
  }

  #resized() {
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    const before = { width: this.width, height: this.height };
    Object.assign(this, { width, height });
    if (before.width > 0) {
      this.x += (width - before.width) / 2;
      this.y += (height - before.height) / 2;
    }
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.drawNow();
  }

  /** Draw before the next frame, however often this is asked. */
  draw() {
    this.frame ??= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    if (!this.width || !this.colours) {
      return;
    }
    const sight = this.#sight();
    this.isFar = this.scale < FAR || sight.length > MANY;
    this.svg.classList.toggle("graph-from-afar", this.scale < LARGE);
    this.layer.setAttribute("transform", `matrix(${this.scale} 0 0 ${this.scale} ${this.x} ${this.y})`);
    this.#paint(sight);
    this.#place(sight);
    this.tellDrawn();
  }

  #sight() {
    const [left, top] = [-this.x / this.scale - WIDTH, -this.y / this.scale - HEIGHT];
    const [right, bottom] = [(this.width - this.x) / this.scale + WIDTH, (this.height - this.y) / this.scale + HEIGHT];
    return this.model.nodes.filter(
      (node) => node.x > left && node.x < right && node.y > top && node.y < bottom && this.model.isShown(node),
    );
  }

  #place(sight) {
    const wanted = new Set(this.isFar ? [] : sight);
    if (this.focused) {
      wanted.add(this.focused);
    }
    for (const [node, element] of this.cards) {
      if (!wanted.has(node)) {
        element.remove();
        this.cards.delete(node);
      }
    }
    for (const node of wanted) {
      let element = this.cards.get(node);
      if (element === undefined) {
        element = card(node, this.model);
        this.cards.set(node, element);
        this.layer.append(element);
      }
      element.setAttribute("transform", `translate(${node.x} ${node.y})`);
      element.setAttribute("tabindex", node === this.focused ? 0 : -1);
      element.classList.toggle("graph-pinned", node.pinned);
      element.classList.toggle("graph-selected", node === this.selected);
    }
  }

  #paint(sight) {
    const pen = this.canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.x, ratio * this.y);
    const [near, other] = this.#edgesInSight();
    for (const [edges, colour, width] of [[other, "edge", 1.2], [near, "near", 2.4]]) {
      pen.strokeStyle = this.colours(colour);
      pen.lineWidth = Math.max(width, (width * 0.5) / this.scale);
      this.#lines(pen, edges);
    }
    if (this.isFar) {
      this.#blocks(pen, sight);
    }
  }

  #lines(pen, edges) {
    const isThin = edges.length > 1500;
    pen.beginPath();
    for (const edge of edges) {
      if (isThin) {
        pen.moveTo(edge.source.x + WIDTH / 2, edge.source.y);
        pen.lineTo(edge.target.x - WIDTH / 2, edge.target.y);
      } else {
        drawLine(pen, edge);
      }
    }
    pen.stroke();
    if (!this.isFar && !isThin) {
      pen.beginPath();
      for (const { target } of edges) {
        const x = target.x - WIDTH / 2;
        pen.moveTo(x, target.y);
        pen.lineTo(x - 8, target.y - 4.5);
        pen.lineTo(x - 8, target.y + 4.5);
        pen.closePath();
      }
      pen.fillStyle = pen.strokeStyle;
      pen.fill();
    }
  }

  /** Those of the focused box, and all others, as far as they may be in sight. */
  #edgesInSight() {
    const [left, top] = [-this.x / this.scale, -this.y / this.scale];
    const [right, bottom] = [left + this.width / this.scale, top + this.height / this.scale];
    const near = [];
    const other = [];
    for (const edge of this.model.edges) {
      const { source: a, target: b } = edge;
      const isLevel = !edge.way?.length;  // else it may pass through what is in sight although both ends lie above
      const isAside =
        (isLevel && a.y < top && b.y < top) || (isLevel && a.y > bottom && b.y > bottom) ||
        Math.max(a.x, b.x) + WIDTH < left || Math.min(a.x, b.x) - WIDTH > right;
      if (!isAside && this.model.isShown(a) && this.model.isShown(b)) {
        (a === this.focused || b === this.focused ? near : other).push(edge);
      }
    }
    return [near, other];
  }

  #blocks(pen, sight) {
    const byStyle = new Map();
    for (const node of sight) {
      const style = styleOf(node.kind);
      (byStyle.get(style) ?? byStyle.set(style, []).get(style)).push(node);
    }
    const hasShapes = this.scale > 0.12;
    for (const [style, nodes] of byStyle) {
      pen.fillStyle = hasShapes ? this.colours("box") : this.colours(`kind-${style}`);
      pen.strokeStyle = this.colours(`kind-${style}`);
      pen.lineWidth = 1 / this.scale;
      pen.beginPath();
      for (const { x, y } of nodes) {
        pen.rect(x - WIDTH / 2, y - HEIGHT / 2, WIDTH, HEIGHT);
      }
      pen.fill();
      if (!hasShapes) {
        continue;
      }
      pen.stroke();
      const shape = new Path2D();
      const one = new Path2D(outline(nodes[0].kind));
      for (const { x, y } of nodes) {
        shape.addPath(one, new DOMMatrix([2, 0, 0, 2, x - WIDTH / 2 + 26, y]));
      }
      pen.fillStyle = this.colours(`kind-${style}`);
      pen.fill(shape);
    }
  }

  /** Zoom around a place of the stage, the middle where none is given. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.draw();
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
    this.draw();
  }

  /** Show all that is not hidden. */
  fit() {
    const shown = this.model.nodes.filter((node) => this.model.isShown(node));
    if (shown.length === 0 || !this.width) {
      return;
    }
    const box = extent(shown);
    const scale = Math.min((this.width - MARGIN) / box.width, (this.height - MARGIN) / box.height);
    this.scale = Math.min(1.1, Math.max(LEAST, scale));
    this.x = this.width / 2 - (box.x + box.width / 2) * this.scale;
    this.y = this.height / 2 - (box.y + box.height / 2) * this.scale;
    this.draw();
  }

  /** Show all if it can be read so, else the focused box and what is around it. */
  open() {
    this.fit();
    if (this.focused && this.scale < FAR) {
      this.scale = READABLE;
      this.centre(this.focused);
      // What has neighbours on one side alone leaves the room to them.
      const room = Math.max(0, this.width / 2 - WIDTH * 0.6);
      this.x += this.focused.out.length === 0 ? room : this.focused.into.length === 0 ? -room : 0;
    }
  }

  centre(node) {
    this.x = this.width / 2 - node.x * this.scale;
    this.y = this.height / 2 - node.y * this.scale;
    this.draw();
  }

  /** Move so far that a box is in sight. */
  reveal(node) {
    const [x, y] = [node.x * this.scale + this.x, node.y * this.scale + this.y];
    const [aside, above] = [(WIDTH / 2) * this.scale + 20, (HEIGHT / 2) * this.scale + 20];
    if (x < aside || y < above || x > this.width - aside || y > this.height - above) {
      this.centre(node);
    }
  }

  /** Make a box the focused one. */
  focus(node, isMoved = true) {
    this.focused = node;
    this.reveal(node);
    this.drawNow();
    const element = this.cards.get(node);
    element.setAttribute("aria-label", spoken(node, this.model));
    if (isMoved) {
      element.focus({ preventScroll: true });
    }
  }

  /** The shown box at a place of the stage. */
  at(x, y) {
    const [left, top] = [(x - this.x) / this.scale, (y - this.y) / this.scale];
    return this.model.nodes.find(
      (node) =>
        Math.abs(node.x - left) <= WIDTH / 2 && Math.abs(node.y - top) <= HEIGHT / 2 && this.model.isShown(node),
    );
  }
}

/** The rectangle around some boxes. */
export function extent(nodes) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of nodes) {
    left = Math.min(left, x - WIDTH / 2);
    right = Math.max(right, x + WIDTH / 2);
    top = Math.min(top, y - HEIGHT / 2);
    bottom = Math.max(bottom, y + HEIGHT / 2);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}
