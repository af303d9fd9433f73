import type { Context } from "../domain/Retrieval.ts"

/** A context as models that score texts read it: where it stands, then what it says. */
export const scoredText = ({ headings, sourceDisplayName, text }: Context): string =>
  [[sourceDisplayName, ...headings].join(" > "), text].join("\n")
