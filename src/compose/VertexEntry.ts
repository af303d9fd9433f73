/** The Vertex AI engine, or a server that speaks like it. */
export { vertex as layer, type VertexHostOptions as Options } from "./Host.ts"
