// A line from box to box, around the boxes between them where the layout has found a way.
import { WIDTH } from "./box.js";

/**
 * Draw a line with a canvas, or with anything else that takes the same three calls.
 *
 * @param edge with its ends, and its way: the places in the layers between them at which it passes beside the boxes.
 */
export function drawLine(pen, { source, target, way }) {
  const stops = [[source.x + WIDTH / 2, source.y]];
  for (const [x, y] of way ?? []) {
    // A box may have been moved since, and then the line goes straight to it.
    if (x - WIDTH / 2 > source.x + WIDTH / 2 && x + WIDTH / 2 < target.x - WIDTH / 2) {
      stops.push([x - WIDTH / 2, y], [x + WIDTH / 2, y]);
    }
  }
  stops.push([target.x - WIDTH / 2, target.y]);
  pen.moveTo(...stops[0]);
  for (let at = 0; at < stops.length; at += 2) {
    const [[x1, y1], [x2, y2]] = [stops[at], stops[at + 1]];
    const bend = Math.max(24, Math.abs(x2 - x1) / 2);
    pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    if (at + 2 < stops.length) {
      pen.lineTo(...stops[at + 2]);
    }
  }
}

/** A line as the text of a path. */
export function pathOf(edge) {
  const parts = [];
  drawLine(
    {
      moveTo: (x, y) => parts.push(`M${x} ${y}`),
      lineTo: (x, y) => parts.push(`L${x} ${y}`),
      bezierCurveTo: (...places) => parts.push(`C${places.join(" ")}`),
    },
    edge,
  );
  return parts.join("");
}
