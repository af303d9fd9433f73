import { headingLevelOf } from "../HeadingStyle.ts"

/** A paragraph style as the style sheet is read. */
export interface RtfStyle {
  name: string
  outline: number | undefined
  basedOn: number | undefined
}

/** The heading level of a style, 1 to 9, by its outline level or name, else that of the style it is based on. */
export const headingOfStyle = (styles: ReadonlyMap<number, RtfStyle>, number: number): number | undefined => {
  const seen = new Set<number>()
  for (let at: number | undefined = number; at !== undefined && !seen.has(at);) {
    seen.add(at)
    const style = styles.get(at)
    const level = style?.outline === undefined ? headingLevelOf(style?.name ?? "") : style.outline + 1
    if (level !== undefined) return level > 9 ? undefined : level
    at = style?.basedOn
  }
  return undefined
}
