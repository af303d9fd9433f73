/** Inline markup of reStructuredText as reading text: roles, links and emphasis without their marks. */
export const rstInline = (text: string): string =>
  text.replace(
    /``((?:[^`]|`(?!`)){1,2000})``|(?::([\w.+:-]{1,50}):)?`([^`]{1,2000})`(?::[\w.+-]{1,50}:|__?)?|\*\*(?=\S)([^*\n]{1,1000})\*\*|\*(?=\S)([^*\n]{1,1000})\*|\|(?=\S)([^|\n]{1,100})\|_{0,2}|(\[[\w#*.-]{1,50}\])_|\b(\w{1,100})__?(?=[\s.,;:!?)\]]|$)|\\(.)/gs,
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
      if (escaped !== undefined) return /\s/.test(escaped) ? "" : escaped
      return code ?? strong ?? emphasis ?? substitution ?? footnote ?? reference ?? whole
    }
  )

/** The label of a role: the text of `text <target>`, the last part of `~package.name`. */
const labelOf = (interpreted: string, role: string | undefined): string => {
  const labelled = /^([^<]+?)\s*<[^<>]+>$/s.exec(interpreted)
  if (labelled !== null) return labelled[1]!
  if (role === "pep" || role === "rfc") return `${role.toUpperCase()} ${interpreted}`
  return interpreted.startsWith("~") ? interpreted.slice(interpreted.lastIndexOf(".") + 1) : interpreted.replace(/^!/, "")
}
