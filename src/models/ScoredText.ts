import type { Context } from "../domain/Retrieval.ts"

/** A context as scoring models read it: its place, then its text. */
export const scoredText = ({ headings, sourceDisplayName, text }: Context): string =>
  [[sourceDisplayName, ...headings].join(" > "), text].join("\n")
