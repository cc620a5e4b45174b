// What the layout of small graphs needs of dagre, which has graphlib inside.
import dagre from "@dagrejs/dagre";

export const { Graph } = dagre.graphlib;
export const { layout } = dagre;
