import { PGraph } from "p-graph"

export const pGraph = PGraph
