import { RegExp as Pattern } from "effect"

/** Words and phrases that mean the same in a corpus, in groups: `[["PTO", "paid time off", "vacation"], ["2FA", "MFA"]]`. */
export type Synonyms = ReadonlyArray<ReadonlyArray<string>>

/** A member of a group that a text has, as the group writes it, with the other members. */
export interface Alternative {
  readonly said: string
  readonly others: ReadonlyArray<string>
}

/** Most groups, and most members of one. */
export const mostSynonyms = { groups: 1_000, members: 20 } as const
/** UTF-16 units of a member, at most. */
export const longestSynonym = 80

/**
 * The alternatives that a text gives, in the order of the groups. Case does not matter, nor a plural's s; in scripts that write spaces
 * words are compared whole. Of the members of a group only the longest counts where they overlap.
 */
export const alternativesIn = (text: string, synonyms: Synonyms): ReadonlyArray<Alternative> => {
  if (synonyms.length === 0) return []
  const folded = fold(text)
  return preparedFor(synonyms).flatMap((members): ReadonlyArray<Alternative> => {
    let rest = folded
    const said = members.filter(({ pattern, start }) => {
      if (!rest.includes(start)) return false
      const without = rest.replace(pattern, " | ")
      const isFound = without !== rest
      rest = without
      return isFound
    })
    if (said.length === 0) return []
    const others = members.filter((member) => !said.includes(member)).map(({ member }) => member)
    return others.length === 0 ? [] : [{ said: said[0]!.member, others }]
  })
}

/** A text with its alternatives after it, for a search that only takes a text. */
export const textOf = (text: string, alternatives: ReadonlyArray<Alternative>): string =>
  [text, ...alternatives.flatMap(({ others }) => others)].join(" ")

/** {@link textOf} a text and the alternatives that it gives. */
export const withAlternatives = (text: string, synonyms: Synonyms = []): string => textOf(text, alternativesIn(text, synonyms))

interface Member {
  readonly member: string
  /** Its first word, without which the pattern need not be tried. */
  readonly start: string
  readonly pattern: RegExp
}

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

const prepared = new WeakMap<Synonyms, ReadonlyArray<ReadonlyArray<Member>>>()

/** Groups with their longest members first, prepared once. */
const preparedFor = (synonyms: Synonyms): ReadonlyArray<ReadonlyArray<Member>> => {
  let known = prepared.get(synonyms)
  if (known === undefined) {
    known = synonyms.map((group) =>
      group.map((member) => preparedMember(member.trim())).toSorted((a, b) => b.member.length - a.member.length)
    )
    prepared.set(synonyms, known)
  }
  return known
}

const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u

const preparedMember = (member: string): Member => {
  const words = fold(member).split(/[\s-]+/)
  const pattern = words.map(Pattern.escape).join("[\\s-]+")
  return {
    member,
    start: words[0]!,
    pattern: unspaced.test(member) ? new RegExp(pattern, "u") : new RegExp(`(?<![\\p{L}\\p{N}])${pattern}s?(?![\\p{L}\\p{N}])`, "u")
  }
}
