// Places for boxes in layers: each lies right of all that it depends on. The same graph gives the same places.

export const STEP_X = 264;
export const STEP_Y = 64;

const SWEEPS = 12;

/**
 * @param count how many nodes.
 * @param edges pairs of indexes, from what comes first to what depends on it.
 * @param until when to stop making the order better; milliseconds as of `performance.now()`.
 * @returns x and y of each node's middle, its layer, and how many sweeps there was time for.
 */
export function layered(count, edges, until = Infinity) {
  const into = Array.from({ length: count }, () => []);
  const out = Array.from({ length: count }, () => []);
  for (const [source, target] of edges) {
    if (source !== target) {
      out[source].push(target);
      into[target].push(source);
    }
  }
  const layer = layersOf(count, into, out);
  const rows = [];
  layer.forEach((index, node) => (rows[index] ??= []).push(node));
  const y = new Float64Array(count);
  for (const row of rows) {
    row.forEach((node, index) => (y[node] = index - (row.length - 1) / 2));
  }
  let sweeps = 0;
  while (sweeps < SWEEPS && performance.now() < until) {
    sweep(rows, sweeps % 2 === 0 ? into : out, y, sweeps % 2 === 0);
    sweeps += 1;
  }
  const x = Float64Array.from(layer, (index) => index * STEP_X);
  return { x, y: y.map((value) => value * STEP_Y), layer, sweeps, isDone: sweeps === SWEEPS };
}

/** Longest paths from the beginnings; then beginnings move up to what is made of them. Circles are cut where met. */
function layersOf(count, into, out) {
  const layer = new Int32Array(count);
  const left = Int32Array.from(into, (list) => list.length);
  const taken = new Uint8Array(count);
  const order = [];
  let lowest = 0;
  const take = (node) => {
    taken[node] = 1;
    order.push(node);
  };
  left.forEach((waiting, node) => waiting || take(node));
  for (let head = 0; order.length < count || head < order.length; head += 1) {
    if (head === order.length) {
      while (taken[lowest]) {
        lowest += 1;
      }
      take(lowest);
    }
    const node = order[head];
    for (const next of out[node]) {
      left[next] -= 1;
      if (!taken[next]) {
        layer[next] = Math.max(layer[next], layer[node] + 1);
        if (left[next] === 0) {
          take(next);
        }
      }
    }
  }
  for (const node of order.reverse()) {
    const nearest = Math.min(...out[node].map((next) => layer[next]));
    if (into[node].length === 0 && Number.isFinite(nearest)) {
      layer[node] = Math.max(0, nearest - 1);
    }
  }
  return layer;
}

/** Each layer in the order of the middles of its neighbours, as near to them as it may without touching. */
function sweep(rows, neighbours, y, isForward) {
  for (let step = 1; step < rows.length; step += 1) {
    const row = rows[isForward ? step : rows.length - 1 - step];
    const wanted = new Map();
    for (const node of row) {
      const near = neighbours[node];
      wanted.set(node, near.length ? near.reduce((sum, other) => sum + y[other], 0) / near.length : y[node]);
    }
    row.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    place(row, wanted, y);
  }
}

/** The places nearest to those wanted, one apart at least: runs that would touch are put around their middle. */
function place(row, wanted, y) {
  const runs = [];
  row.forEach((node, index) => {
    runs.push({ sum: wanted.get(node) - index, count: 1 });
    for (let last = runs.length - 1; last > 0; last -= 1) {
      const [before, here] = [runs[last - 1], runs[last]];
      if (before.sum / before.count <= here.sum / here.count) {
        break;
      }
      before.sum += here.sum;
      before.count += here.count;
      runs.pop();
    }
  });
  let index = 0;
  for (const { sum, count } of runs) {
    for (let end = index + count; index < end; index += 1) {
      y[row[index]] = sum / count + index;
    }
  }
}
