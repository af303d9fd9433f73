import { printable } from "../../domain/Text.ts"

/** Describes where a quote or context is: file and pages. */
export const place = (c: {
  readonly sourceDisplayName: string
  readonly firstPage?: number
  readonly lastPage?: number
}): string => {
  const file = printable(c.sourceDisplayName)
  if (c.firstPage === undefined) return file
  return c.lastPage === undefined || c.lastPage === c.firstPage
    ? `${file}, page ${c.firstPage}`
    : `${file}, pages ${c.firstPage}-${c.lastPage}`
}
