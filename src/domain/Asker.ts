import type { Permissions } from "./RagFile.ts"

/**
 * Who asks: a principal, or all that one person is, such as `["user:a@b.c", "group:x", "domain:b.c"]`, who may read what any of them may
 * read. An empty list is someone of whom nothing is known: it finds only public files and files without permissions.
 */
export type Asker = string | ReadonlyArray<string>

/** The principals of an asker in one form, whatever their order and case: in lower case, as files have them. */
export const principalsOf = (asker: Asker): ReadonlyArray<string> =>
  [...new Set((typeof asker === "string" ? [asker] : asker).map((principal) => principal.toLowerCase()))].sort()

/** Returns whether an asker may read a file with these permissions. */
export const readableBy = (asker: Asker): (permissions: Permissions | undefined) => boolean => {
  const principals = new Set(principalsOf(asker))
  return (permissions) =>
    permissions === undefined || permissions.public || permissions.principals.some((principal) => principals.has(principal))
}

/** Reads an asker from a text in which several principals are separated by `;`. A text without any is an empty list. */
export const askerFrom = (text: string): Asker => {
  const principals = text.split(";").map((principal) => principal.trim()).filter((principal) => principal !== "")
  return principals.length === 1 ? principals[0] as string : principals
}

/** The text that {@link askerFrom} reads. */
export const askerText = (asker: Asker): string => typeof asker === "string" ? asker : asker.join("; ") || ";"

/** The name of an asker for people. */
export const askerName = (asker: Asker): string =>
  asker.length === 0 ? "someone without principals" : typeof asker === "string" ? asker : asker.join(", ")
