// Works out places beside the page, so that it stays awake: dagre's for small graphs, our own layers for others.
import { inColumns } from "./columns.js";
import { layered } from "./layers.js";
import { Graph, layout } from "../vendor/dagre.js";

const FEW = 100;

function withDagre(count, edges) {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 64 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (let node = 0; node < count; node += 1) {
    graph.setNode(String(node), { width: 200, height: 46 });
  }
  for (const [source, target] of edges) {
    graph.setEdge(String(source), String(target));
  }
  layout(graph);
  const places = Array.from({ length: count }, (_, node) => graph.node(String(node)));
  const columns = [...new Set(places.map(({ x }) => x))].sort((a, b) => a - b);
  const between = ([source, target]) => graph.edge(String(source), String(target)).points.filter(({ x }) => columns.includes(x));
  return {
    x: Float64Array.from(places, ({ x }) => x),
    y: Float64Array.from(places, ({ y }) => y),
    layer: Int32Array.from(places, ({ x }) => columns.indexOf(x)),
    ways: edges.map((edge) => between(edge).map(({ x, y }) => [x, y])),
    isDone: true,
  };
}

addEventListener("message", ({ data: { count, edges, milliseconds } }) => {
  const until = performance.now() + milliseconds;
  postMessage(inColumns(count <= FEW ? withDagre(count, edges) : layered(count, edges, until)));
});
