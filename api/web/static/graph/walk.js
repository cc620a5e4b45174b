// Where an arrow key leads: along edges to the nearest box, or to the next box of the layer.

const nearest = (nodes, here) =>
  nodes.reduce(
    (best, node) => (best === null || Math.abs(node.y - here.y) < Math.abs(best.y - here.y) ? node : best),
    null,
  );

/** The box that a key leads to; null where it leads nowhere. */
export function step(model, here, key) {
  const shown = (nodes) => nodes.filter((node) => node !== here && model.isShown(node));
  const inLayer = () => shown(model.nodes).filter((node) => node.layer === here.layer);
  switch (key) {
    case "ArrowLeft":
      return nearest(shown(here.into), here);
    case "ArrowRight":
      return nearest(shown(here.out), here);
    case "ArrowUp":
      return nearest(inLayer().filter((node) => node.y < here.y), here);
    case "ArrowDown":
      return nearest(inLayer().filter((node) => node.y > here.y), here);
    case "Home":
    case "End": {
      const sign = key === "Home" ? 1 : -1;
      const [first] = shown(model.nodes).sort((a, b) => sign * (a.x - b.x || a.y - b.y));
      return first ?? null;
    }
    default:
      return null;
  }
}
