// Draws the graph whose address stands in the page, and says what is known of the box that is chosen.
import { drawGraph } from "./graph.js";
import { html } from "./make.js";
import { shown } from "./model.js";

const host = document.querySelector("[data-graph]");
const details = document.querySelector("[data-graph-details]");

async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, redirect: "error" });
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  if (!answer.ok || !isJson) {
    const told = isJson ? (await answer.json()).problem : undefined;
    throw new Error(told ?? `the server answers ${answer.status}`);
  }
  return answer.json();
}

/** The address of something about a box, from a pattern of the page. */
const about = (pattern, id) => pattern.replace("{id}", encodeURIComponent(id));

function tell(node) {
  if (node === null) {
    details.replaceChildren();
    return;
  }
  const link = html("a", { href: about(host.dataset.open, node.id) }, html("bdi", {}, shown(node.label) || shown(node.id, 80)));
  details.replaceChildren(
    html("h2", {}, html("bdi", {}, shown(node.kind, 40)), " ", link),
    html("p", {}, html("bdi", {}, shown(node.note, 2000))),
  );
}

try {
  const data = await fetched(host.dataset.graph);
  const graph = await drawGraph(host, data, {
    label: host.getAttribute("aria-label"),
    start: data.start,
    onSelect: tell,
    onOpen: (node) => location.assign(about(host.dataset.open, node.id)),
    expand: host.dataset.expand && ((node) => fetched(about(host.dataset.expand, node.id))),
  });
  if (data.truncated) {
    graph.remark("This is not all: only the nearest 6,000 boxes, or so many steps as were asked for, are here.");
  }
  await graph.view.drawn;
  host.dataset.ready = String(Math.round(performance.now()));
} catch (error) {
  host.replaceChildren(html("p", { role: "alert" }, `The graph can't be drawn: ${shown(error.message)}`));
}
