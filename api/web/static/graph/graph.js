// Draws a graph of up to 6,000 boxes and 12,000 lines, for mouse and keyboard alike. docs/pages.md says what it is given.
import { spoken } from "./box.js";
import { bar, kinds, slider } from "./controls.js";
import { follow } from "./hands.js";
import { html } from "./make.js";
import { Model, shown } from "./model.js";
import { placesOf } from "./places.js";
import { pngBlob, save, svgText } from "./save.js";
import { View } from "./view.js";
import { step } from "./walk.js";

/**
 * Draw a graph into an element.
 *
 * @param host the element; what is in it goes.
 * @param data `{nodes: [{id, label, kind, group?, note?, sequence?}], edges: [{source, target, label?, kind?}]}`
 * @param options all may be left out: `label` names the graph; `start` is the id of the box that is focused first;
 *   `onSelect` and `onOpen` are given the node as it stands in the data; `expand` is given one too, and promises more
 *   data; `deadline` is how many milliseconds the layout may take.
 * @returns once it is laid out: what is shown, and what moves it. `view.drawn` is kept when it has been drawn.
 */
export async function drawGraph(host, data, options = {}) {
  const graph = new Graph(host, new Model(data), options);
  await graph.layOut();
  graph.begin(options.start);
  return graph;
}

class Graph {
  constructor(host, model, options) {
    this.model = model;
    this.options = options;
    this.view = new View(model, options.label ?? "Graph");
    this.live = html("p", { class: "graph-live", role: "status" });
    this.note = html("p", { class: "graph-note" });
    this.note.hidden = true;
    this.bar = bar({
      search: (words, by) => this.search(words, by),
      leave: () => this.leave(),
      zoom: (factor) => this.view.zoom(factor),
      fit: () => this.view.fit(),
      pin: () => this.pin(),
      expand: options.expand && (() => this.expand()),
      svg: () => this.saveSvg(),
      png: () => this.savePng(),
    });
    this.settings = html("div", { class: "graph-settings" });
    this.folded = html("details", { class: "graph-folded" }, html("summary", {}, "Kinds and time"), this.settings);
    this.folded.open = !matchMedia("(max-width: 40rem)").matches;
    host.classList.add("graph");
    host.replaceChildren(this.bar.element, this.folded, this.view.stage, this.note, this.live);
    this.host = host;
    follow(this.view, {
      choose: (node) => this.choose(node),
      open: (node) => this.#open(node),
      pinned: (node) => {
        node.pinned = true;
        this.choose(node);
      },
    });
    this.view.svg.addEventListener("focusin", ({ target }) => this.#isFocused(target));
    host.addEventListener("keydown", (event) => this.#key(event));
  }

  get focused() {
    return this.view.focused;
  }

  /** Give all boxes their places; pinned ones stay. */
  async layOut() {
    const { nodes, edges } = this.model;
    this.host.setAttribute("aria-busy", "true");
    try {
      const pairs = edges.map(({ source, target }) => [source.index, target.index]);
      const places = await placesOf(nodes.length, pairs, this.options.deadline);
      for (const node of nodes) {
        node.layer = places.layer[node.index];
        if (!node.pinned) {
          [node.x, node.y] = [places.x[node.index], places.y[node.index]];
        }
      }
      edges.forEach((edge, index) => (edge.way = places.ways?.[index]));
      this.note.textContent = places.note;
      this.note.hidden = !places.note;
    } finally {
      this.host.removeAttribute("aria-busy");
    }
  }

  /** Say something about the whole graph, below it. */
  remark(text) {
    this.note.textContent = `${this.note.textContent} ${text}`.trim();
    this.note.hidden = false;
  }

  begin(start) {
    this.#settings();
    // Where something was lost, the eye begins there if not all can be shown.
    const lost = this.model.nodes.find(({ mark }) => mark === "lost" || mark === "last");
    const first = lost ?? this.model.byId.get(start) ?? this.model.nodes.at(-1);
    this.view.width = this.view.stage.clientWidth;
    this.view.height = this.view.stage.clientHeight;
    this.view.focused = first ?? null;
    this.view.open();
    this.view.recolour();
    if (!first) {
      this.#say("This graph is empty.");
    }
  }

  #settings() {
    this.time = slider(this.model, () => this.#changed());
    this.settings.replaceChildren(
      kinds(this.model, () => this.#changed()),
      ...(this.time ? [this.time.element] : []),
    );
  }

  /** Other boxes are hidden than before. */
  #changed() {
    this.time?.tell();
    const { focused } = this.view;
    if (!focused || !this.model.isShown(focused)) {
      const left = this.model.nodes.filter((node) => this.model.isShown(node));
      const far = (node) => (focused ? Math.hypot(node.x - focused.x, node.y - focused.y) : 0);
      this.view.focused = left.reduce((best, node) => (!best || far(node) < far(best) ? node : best), null);
    }
    const count = this.model.nodes.filter((node) => this.model.isShown(node)).length;
    this.#say(`${count} of ${this.model.nodes.length} boxes are shown.`);
    this.view.draw();
  }

  #isFocused(target) {
    const node = this.model.nodes[target.closest("[data-index]")?.dataset.index];
    if (node) {
      this.view.focused = node;
      this.view.draw();
      this.#say(spoken(node, this.model));
    }
  }

  #say(text) {
    this.live.textContent = text;
  }

  /** Focus a box and tell of it. */
  choose(node) {
    this.view.selected = node;
    this.view.focus(node);
    this.options.onSelect?.(node.raw);
  }

  #open(node) {
    this.choose(node);
    this.options.onOpen?.(node.raw);
  }

  /** Go to the next box whose texts hold some words. */
  search(words, by = 1) {
    const { node, place, of } = words.trim() ? this.model.next(words, this.view.focused, by) : { of: 0 };
    if (!node) {
      this.#say(`Nothing that is shown holds “${shown(words, 80)}”.`);
      return;
    }
    const isTyped = document.activeElement === this.bar.search;
    this.view.selected = node;
    this.view.focus(node, !isTyped);
    this.options.onSelect?.(node.raw);
    this.#say(`${place} of ${of}: ${spoken(node, this.model)}`);
  }

  /** Back to the boxes; from a box, choose none. */
  leave() {
    if (this.view.svg.contains(document.activeElement)) {
      this.view.selected = null;
      this.options.onSelect?.(null);
      this.view.draw();
    } else if (this.view.focused) {
      this.view.focus(this.view.focused);
    }
  }

  pin() {
    const node = this.view.focused;
    if (node) {
      node.pinned = !node.pinned;
      this.view.focus(node);
      this.#say(node.pinned ? "Pinned: it stays where it is." : "No longer pinned.");
    }
  }

  /** Fetch the neighbours of the focused box, and draw them too. */
  async expand() {
    const node = this.view.focused;
    if (!node || !this.options.expand || this.host.hasAttribute("aria-busy")) {
      return;
    }
    this.#say("Fetching the neighbours …");
    this.host.setAttribute("aria-busy", "true");
    try {
      const count = this.model.add(await this.options.expand(node.raw));
      if (count > 0) {
        await this.layOut();
        this.#settings();
      }
      this.view.cards.forEach((element) => element.remove());
      this.view.cards.clear();
      this.view.focus(node);
      this.#say(count === 1 ? "One more box." : `${count} more boxes.`);
    } catch (error) {
      this.#say(`The neighbours can't be shown: ${shown(error.message)}`);
    } finally {
      this.host.removeAttribute("aria-busy");
    }
  }

  saveSvg() {
    const text = svgText(this.model, this.view.colours);
    save(new Blob([text], { type: "image/svg+xml" }), "svg");
  }

  async savePng() {
    try {
      save(await pngBlob(this.model, this.view.colours), "png");
    } catch (error) {
      this.#say(`The picture can't be saved: ${shown(error.message)}`);
    }
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) {
      return;
    }
    const isBox = event.target.closest("[data-index]") !== null;
    const everywhere = {
      "/": () => this.bar.search.focus(),
      "+": () => this.view.zoom(1.3),
      "=": () => this.view.zoom(1.3),
      "-": () => this.view.zoom(1 / 1.3),
      0: () => this.view.fit(),
      Escape: () => this.leave(),
    };
    const onBox = {
      Enter: () => this.#open(this.view.focused),
      " ": () => this.choose(this.view.focused),
      p: () => this.pin(),
      e: () => this.expand(),
    };
    const does = everywhere[event.key] ?? (isBox ? onBox[event.key] : undefined);
    const next = isBox && !does ? step(this.model, this.view.focused, event.key) : null;
    if (does) {
      does();
    } else if (next) {
      this.view.focus(next);
    } else if (!isBox || !event.key.startsWith("Arrow")) {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
  }
}
