import { oneLine } from "../BlockSink.ts"

/** Texts by the names that stand for them between bars. */
export type Substitutions = ReadonlyMap<string, string>

/** The texts that a document says to put in place of names: `.. |name| replace:: text`. */
export const substitutionsIn = (source: string): Substitutions =>
  new Map(
    Array.from(
      source.matchAll(/^ *\.\. \|([^|\n]{1,100})\| replace:: *(\S.*(?:\n {2,}\S.*)*)$/gm),
      ([, name, text]) => [name!, rstInline(oneLine(text!))]
    )
  )

/** Inline markup of reStructuredText as reading text: roles, links and emphasis without their marks. */
export const rstInline = (text: string, substitutions: Substitutions = new Map()): string =>
  text.replace(
    /``((?:[^`]|`(?!`)){1,2000})``|(?:(?<!\w)_|:([\w.+:-]{1,50}):)?`([^`]{1,2000})`(?::[\w.+-]{1,50}:|__?)?|\*\*(?=\S)([^*\n]{1,1000})\*\*|\*(?=\S)([^*\n]{1,1000})\*|\|(?=\S)([^|\n]{1,100})\|_{0,2}|(\[[\w#*.-]{1,50}\])_|\b(\w{1,100})__?(?=[\s.,;:!?)\]]|$)|\\(.)/gs,
    (
      whole: string,
      code?: string,
      role?: string,
      interpreted?: string,
      strong?: string,
      emphasis?: string,
      substitution?: string,
      footnote?: string,
      reference?: string,
      escaped?: string
    ) => {
      if (interpreted !== undefined) return labelOf(interpreted, role)
      if (escaped !== undefined) return unescaped(whole)
      return code ?? strong ?? emphasis ?? (substitution === undefined ? undefined : substitutions.get(substitution) ?? substitution) ??
        footnote ?? reference ?? whole
    }
  )

/** The label of a role: the text of `text <target>`, the last part of `~package.name`. */
const labelOf = (interpreted: string, role: string | undefined): string => {
  if (verbatimRoles.has(role ?? "")) return interpreted
  const labelled = /^([^<]*[^<\\\s])\s*<[^<>]+>$/s.exec(interpreted)
  if (labelled !== null) return unescaped(labelled[1]!)
  if (role === "pep" || role === "rfc") return `${role.toUpperCase()} ${interpreted}`
  return interpreted.startsWith("~") ? interpreted.slice(interpreted.lastIndexOf(".") + 1) : unescaped(interpreted.replace(/^!/, ""))
}

/** Roles in which a backslash is a character. */
const verbatimRoles: ReadonlySet<string> = new Set(["math", "code", "raw"])

const unescaped = (text: string): string => text.replace(/\\(.)/gs, (_, escaped: string) => /\s/.test(escaped) ? "" : escaped)
