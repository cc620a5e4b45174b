// A graph of few layers with many boxes each is a tall thin column, of which a window shows nothing but lines. Its
// layers are broken into several columns side by side.
import { STEP_X, STEP_Y } from "./layers.js";

const TALL = 3;
const FEW = 24;
/** Of the window that a graph is drawn in: height by width. */
const SHAPE = 0.6;

/** The same places where the graph is not tall; else those of the broken layers, each column a layer of its own. */
export function inColumns(places) {
  const rows = [];
  places.layer.forEach((layer, node) => (rows[layer] ??= []).push(node));
  const layers = rows.filter(Boolean);
  const most = Math.max(0, ...layers.map((row) => row.length));
  if (most <= FEW || most * STEP_Y <= TALL * layers.length * STEP_X) {
    return places;
  }
  const limit = Math.max(FEW / 2, Math.ceil(Math.sqrt((SHAPE * places.layer.length * STEP_X) / STEP_Y)));
  const found = { ...places, ways: undefined, x: new Float64Array(places.x), y: new Float64Array(places.y), layer: Int32Array.from(places.layer) };
  let column = 0;
  for (const row of layers) {
    row.sort((a, b) => places.y[a] - places.y[b] || a - b);
    const columns = Math.ceil(row.length / limit);
    const height = Math.ceil(row.length / columns);
    row.forEach((node, index) => {
      const own = Math.floor(index / height);
      const count = Math.min(height, row.length - own * height);
      found.layer[node] = column + own;
      found.x[node] = (column + own) * STEP_X;
      found.y[node] = ((index % height) - (count - 1) / 2) * STEP_Y;
    });
    column += columns;
  }
  return found;
}
