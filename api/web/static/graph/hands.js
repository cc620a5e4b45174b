// Mouse, finger and wheel: pan, zoom, choose, and drag a box to where it shall stay.

const MOVED = 4;

/** Make a view follow the pointer. `does` has choose, open and pinned, each given a box. */
export function follow(view, does) {
  const { stage } = view;
  const held = new Map();
  let drag = null;
  const place = ({ clientX, clientY }) => {
    const { left, top } = stage.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) {
      return;
    }
    const at = place(event);
    held.set(event.pointerId, at);
    drag = { node: held.size === 1 ? view.at(at.x, at.y) : undefined, from: at, last: at, isMoved: held.size > 1 };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId) || drag === null) {
      return;
    }
    const at = place(event);
    if (held.size === 2) {
      const before = spread(held);
      held.set(event.pointerId, at);
      view.zoom(spread(held) / before, at.x, at.y);
      return;
    }
    held.set(event.pointerId, at);
    drag.isMoved ||= Math.hypot(at.x - drag.from.x, at.y - drag.from.y) > MOVED;
    if (!drag.isMoved) {
      return;
    }
    const [x, y] = [at.x - drag.last.x, at.y - drag.last.y];
    drag.last = at;
    if (drag.node) {
      drag.node.x += x / view.scale;
      drag.node.y += y / view.scale;
      view.draw();
    } else {
      view.pan(x, y);
    }
  });
  const end = (event) => {
    if (!held.delete(event.pointerId) || held.size > 0 || drag === null) {
      return;
    }
    const { node, isMoved } = drag;
    drag = null;
    if (node && isMoved) {
      does.pinned(node);
    } else if (node && event.type === "pointerup") {
      does.choose(node);
    }
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    const node = view.at(x, y);
    if (node) {
      does.open(node);
    }
  });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = place(event);
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1);
    view.zoom(Math.exp(-Math.max(-200, Math.min(200, pixels)) / 400), x, y);
  }, { passive: false });
}

const spread = (held) => {
  const [a, b] = held.values();
  return Math.max(1, Math.hypot(a.x - b.x, a.y - b.y));
};
