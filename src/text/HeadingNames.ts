/**
 * What a heading names: all of it; a name and its abbreviation, "Service level objective (SLO)"; what stands before and after a
 * dash or a colon, "Our values – who we are"; and each of several things, "Benefits & perks".
 */
export const namesIn = (heading: string): ReadonlyArray<string> => {
  const [, before = heading, inBrackets] = /^([^()]*[^()\s])\s*\(([^()]{1,40})\)$/u.exec(heading) ?? []
  const clauses = before.split(/\s+[-–—]\s+|:\s+/u)
  const things = clauses.flatMap((clause) => clause.split(/,\s+(?:and\s+)?|\s+(?:&|and|or|und|oder|et|ou|y|o|e)\s+/iu))
  return [heading, before, ...clauses, ...things, ...(/^\p{Lu}[\p{L}\p{N}]*$/u.test(inBrackets ?? "") ? [inBrackets!] : [])]
}
