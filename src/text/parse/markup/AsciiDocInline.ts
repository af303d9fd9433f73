/** Most characters of an attribute that is substituted; longer ones are left as they are named. */
const maxValue = 500

/**
 * Inline markup of AsciiDoc as reading text.
 *
 * @param attributes the values of `{name}`
 */
export const asciiDocInline = (text: string, attributes: ReadonlyMap<string, string>): string =>
  text
    .replace(/\{([\w-]{1,60})\}/g, (whole, name: string) => (attributes.get(name.toLowerCase()) ?? whole).slice(0, maxValue))
    .replace(/<<([^<>,\n]{1,200})(?:,\s*([^<>]{1,500}))?>>/g, (_, target: string, label: string | undefined) => label ?? target)
    .replace(/\b(?:link|xref|mailto|image|icon):([^\s[\]]{1,1000})\[([^[\]]{0,500})\]/g, macroText)
    .replace(/\b(https?:\/\/[^\s[\]]{1,1000})\[([^[\]]{0,500})\]/g, (_, url: string, label: string) => firstOf(label) || url)
    .replace(/\b(?:kbd|btn|menu|pass|stem|latexmath|asciimath):[\w,]{0,50}\[([^[\]]{0,500})\]/g, "$1")
    .replace(/\bfootnote:[\w-]{0,50}\[([^[\]]{0,1000})\]/g, " ($1)")
    .replace(/\bindexterm2?:\[[^[\]]{0,500}\]|\(\(\([^()]{0,200}\)\)\)|\[\[[^[\]]{1,200}\]\]/g, "")
    .replace(/(\*\*|__|``|\+\+)(?=\S)([^\n]{1,500}?)\1/g, "$2")
    .replace(/(?<=^|[\s("'[{;:,.!?-])(?:\[[^[\]\n]{1,100}\])?([*_`+#])(?=\S)([^\n]{0,500}?\S)\1(?=$|[\s)"'\]};:,.!?-])/gm, "$2")
    .replace(/[ \t]\+$/gm, "")

const macroText = (_: string, target: string, label: string): string => firstOf(label) || target

/** The label in `label, width=100`. */
const firstOf = (attributes: string): string => {
  const first = attributes.split(",", 1)[0]!.trim().replace(/^"(.*)"$/, "$1")
  return /^\w+=/.test(first) ? "" : first
}
