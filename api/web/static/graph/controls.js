// The controls around the graph: native elements, each with its name.
import { html, svg } from "./make.js";
import { outline, styleOf } from "./shapes.js";

let made = 0;

function button(text, does, name = text) {
  const element = html("button", { type: "button", "aria-label": name, title: name }, text);
  element.addEventListener("click", does);
  return element;
}

/** The bar above the graph. `does` has a function for each of its buttons. */
export function bar(does) {
  const id = `graph-search-${(made += 1)}`;
  const search = html("input", { id, type: "search", autocomplete: "off", maxlength: 200 });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      does.search(search.value, event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      does.leave();
    }
  });
  const element = html(
    "div",
    { class: "graph-bar", role: "group", "aria-label": "Graph" },
    html("label", { for: id }, "Find"),
    search,
    button("Next", () => does.search(search.value, 1), "Next box found"),
    button("+", () => does.zoom(1.3), "Zoom in"),
    button("−", () => does.zoom(1 / 1.3), "Zoom out"),
    button("Fit", does.fit, "Fit the whole graph"),
    button("Pin", does.pin, "Pin or unpin the chosen box"),
    ...(does.expand ? [button("Expand", does.expand, "Expand the chosen box's neighbours")] : []),
    button("SVG", does.svg, "Save as SVG"),
    button("PNG", does.png, "Save as PNG"),
  );
  return { element, search };
}

/** A box to tick for each kind, with its shape: also what the shapes mean. */
export function kinds(model, changed) {
  const group = html("fieldset", { class: "graph-kinds" }, html("legend", {}, "Kinds"));
  for (const [kind, count] of model.kinds()) {
    const tick = html("input", { type: "checkbox" });
    tick.checked = !model.kindsOff.has(kind);
    tick.addEventListener("change", () => {
      model.kindsOff[tick.checked ? "delete" : "add"](kind);
      changed();
    });
    const shape = svg("path", { class: "graph-shape", d: outline(kind) });
    const sign = svg("svg", { class: `graph-kind-${styleOf(kind)}`, viewBox: "-11 -11 22 22", "aria-hidden": "true" }, shape);
    group.append(html("label", {}, tick, sign, html("bdi", {}, kind), html("span", { class: "graph-count" }, String(count))));
  }
  return group;
}

/** The memory as it was at a place of the trace; null where the graph knows only one. */
export function slider(model, changed) {
  const times = model.times();
  if (times.length < 2) {
    return null;
  }
  const id = `graph-time-${(made += 1)}`;
  const last = times.length - 1;
  const range = html("input", { id, type: "range", min: 0, max: last, step: 1 });
  const said = html("output", { for: id });
  const tell = () => {
    const count = model.nodes.filter((node) => model.isShown(node)).length;
    const place = times[range.valueAsNumber];
    const text = range.valueAsNumber === last ? `the end (${place})` : `place ${place} of ${times[last]}`;
    said.textContent = `${text}, ${count} of ${model.nodes.length} boxes`;
    range.setAttribute("aria-valuetext", said.textContent);
  };
  const until = times.findLastIndex((time) => time <= model.until);
  range.value = Math.max(0, until);
  range.addEventListener("input", () => {
    model.until = range.valueAsNumber === last ? Infinity : times[range.valueAsNumber];
    changed();
  });
  tell();
  const element = html("div", { class: "graph-time" }, html("label", { for: id }, "As it was at"), range, said);
  return { element, tell };
}
