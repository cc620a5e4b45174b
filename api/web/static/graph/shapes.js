// A shape and a colour for each kind: one says as much as the other.

const SHAPES = [
  ["Message", "M0-8A8 8 0 1 1 0 8A8 8 0 1 1 0-8Z"],
  ["Query", "M0-9L9 0L0 9L-9 0Z"],
  ["Prompt", "M-7-7H7V7H-7Z"],
  ["Response", "M-9 0L-4-8H4L9 0L4 8H-4Z"],
  ["MemoryUnit", "M-8-4Q-8-8-4-8H4Q8-8 8-4V4Q8 8 4 8H-4Q-8 8-8 4Z"],
  ["Buffer", "M-8-5H8V-1H-8ZM-8 1H8V5H-8Z"],
  ["Context", "M-8-7H3L9 0L3 7H-8Z"],
  ["RetrievalResult", "M0-9L9 7H-9Z"],
  ["Answer", "M0-10L2.6-3.6L9.5-3.1L4.2 1.4L5.9 8.1L0 4.4L-5.9 8.1L-4.2 1.4L-9.5-3.1L-2.6-3.6Z"],
  ["", "M-3-9H3V-3H9V3H3V9H-3V3H-9V-3H-3Z"],
];

/** The number of a kind's shape and colour; the last for kinds that are not known. */
export function styleOf(kind) {
  const found = SHAPES.findIndex(([name]) => name === kind);
  return found < 0 ? SHAPES.length - 1 : found;
}

/** The outline of a kind's shape, around the origin, as the `d` of a path. */
export const outline = (kind) => SHAPES[styleOf(kind)][1];
