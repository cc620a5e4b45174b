// The graph that is shown: checked, its texts fit to be seen, and which of it is hidden at the moment.

export const MAX_NODES = 6000;
export const MAX_EDGES = 12000;

const SHORT = 26;
const LONG = 300;
// Controls, and marks that turn or hide text.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/g;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text of at most so many characters, in one line, with nothing in it that can't be seen. */
export function shown(text, most = LONG) {
  // No more than this is looked at, however long it is; two pairs may be cut in half.
  const clean = String(text ?? "").slice(0, 4 * most).replace(LONE, "\ufffd").replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
  const letters = [...clean];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : clean;
}

export class Model {
  constructor(data) {
    this.nodes = [];
    this.edges = [];
    this.byId = new Map();
    this.kindsOff = new Set();
    this.until = Infinity;
    this.add(data);
  }

  /** Take nodes and edges that are not there yet; an edge without its ends is an error. Gives how many nodes are new. */
  add(data) {
    if (!Array.isArray(data?.nodes) || !Array.isArray(data?.edges)) {
      throw new TypeError("a graph has lists of nodes and edges");
    }
    const fresh = new Map();
    for (const node of data.nodes) {
      if (typeof node.id !== "string" || typeof node.kind !== "string") {
        throw new TypeError("a node has an id and a kind");
      }
      if (!this.byId.has(node.id) && !fresh.has(node.id)) {
        fresh.set(node.id, this.#node(node, this.nodes.length + fresh.size));
      }
    }
    const known = new Set(this.edges.map((edge) => `${edge.source.index} ${edge.target.index} ${edge.kind}`));
    const edges = [];
    for (const { source, target, label, kind } of data.edges) {
      const ends = [source, target].map((id) => this.byId.get(id) ?? fresh.get(id));
      if (ends.includes(undefined)) {
        throw new TypeError(`an edge has no node ${shown(ends[0] ? target : source, 80)}`);
      }
      const edge = { source: ends[0], target: ends[1], label: shown(label), kind: shown(kind) };
      const key = `${ends[0].index} ${ends[1].index} ${edge.kind}`;
      if (!known.has(key)) {
        known.add(key);
        edges.push(edge);
      }
    }
    if (this.nodes.length + fresh.size > MAX_NODES || this.edges.length + edges.length > MAX_EDGES) {
      throw new RangeError(`a graph of more than ${MAX_NODES} boxes or ${MAX_EDGES} lines is not drawn`);
    }
    for (const [id, node] of fresh) {
      this.byId.set(id, node);
      this.nodes.push(node);
    }
    for (const edge of edges) {
      this.edges.push(edge);
      edge.source.out.push(edge.target);
      edge.target.into.push(edge.source);
    }
    return fresh.size;
  }

  #node(raw, index) {
    const label = shown(raw.label) || shown(raw.id, 80);
    const sequence = Number.isFinite(raw.sequence) ? raw.sequence : null;
    const node = { raw, id: raw.id, index, kind: shown(raw.kind, 40), label, short: shown(label, SHORT), sequence };
    node.note = shown(raw.note);
    node.group = shown(raw.group, 80);
    node.mark = ["held", "lost", "last"].includes(raw.mark) ? raw.mark : undefined;
    node.found = `${label}\n${node.note}\n${node.group}\n${raw.id}`.toLowerCase();
    return Object.assign(node, { x: 0, y: 0, layer: 0, pinned: false, into: [], out: [] });
  }

  /** Whether a node is neither filtered out nor later than the time that is shown. */
  isShown(node) {
    return !this.kindsOff.has(node.kind) && (node.sequence === null || node.sequence <= this.until);
  }

  /** The kinds with how many nodes each has, in order of their names. */
  kinds() {
    const counts = new Map();
    for (const { kind } of this.nodes) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** The different places in time, in order. */
  times() {
    const all = new Set(this.nodes.map(({ sequence }) => sequence).filter((sequence) => sequence !== null));
    return [...all].sort((a, b) => a - b);
  }

  /** The next shown node after one whose texts hold some words, going round; undefined where there is none. */
  next(words, after, step = 1) {
    const wanted = words.trim().toLowerCase();
    const hits = this.nodes.filter((node) => this.isShown(node) && node.found.includes(wanted));
    hits.sort((a, b) => a.layer - b.layer || a.y - b.y);
    const at = hits.indexOf(after);
    const index = at < 0 ? (step > 0 ? 0 : hits.length - 1) : (at + step + hits.length) % hits.length;
    return { node: hits[index], place: index + 1, of: hits.length };
  }
}
