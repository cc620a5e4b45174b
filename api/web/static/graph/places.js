// Places of all boxes, from a worker with a deadline.
import { inColumns } from "./columns.js";
import { layered } from "./layers.js";

const DEADLINE_MS = 4000;
const ADDRESS = new URL("worker.js", import.meta.url).href;

// The page's policy allows this name alone, and it gives one address.
const trusted = globalThis.trustedTypes?.createPolicy("memtrace-graph", { createScriptURL: () => ADDRESS });

/** Places as of `layered`; `note` says so where they are not as good as they could be. */
export async function placesOf(count, edges, deadline = DEADLINE_MS) {
  const worker = new Worker(trusted ? trusted.createScriptURL("") : ADDRESS, { type: "module" });
  let timer;
  try {
    const found = await new Promise((resolve, reject) => {
      timer = setTimeout(() => resolve(null), deadline);
      worker.addEventListener("message", ({ data }) => resolve(data));
      worker.addEventListener("error", (event) => reject(new Error(event.message || "the layout's script failed")));
      worker.postMessage({ count, edges, milliseconds: deadline / 2 });
    });
    const places = found ?? inColumns(layered(count, edges, 0));
    return { ...places, note: places.isDone ? "" : "This graph is too large to lay out well in time." };
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
