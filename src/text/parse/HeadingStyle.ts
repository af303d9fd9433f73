/**
 * Names that word processors give to their heading styles. Files written in another language keep the translated name or an id made from
 * it, with or without its accents: `berschrift1`, `Titre 1`, `見出し 1`.
 */
const headingName =
  /^(?:heading|überschrift|berschrift|titre|título|titulo|ttulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nagwek|nadpis|címsor|cmsor|titlu|başlık|balk|naslov|επικεφαλίδα|заголовок|見出し|标题|標題|제목)[\s_]*([1-9])$/iu

const titleName = /^(?:title|titel|titre|título|titulo|titolo|tytuł|заголовок|表題|标题|標題|제목)$/iu

/** The heading level that a style's name or id means, 1 to 9; a document's title is 1. Undefined for other styles. */
export const headingLevelOf = (styleName: string): number | undefined => {
  // OpenDocument writes a blank in a style name as _20_.
  const name = styleName.replaceAll("_20_", " ").trim()
  const level = headingName.exec(name)?.[1]
  if (level !== undefined) return Number(level)
  return titleName.test(name) ? 1 : undefined
}

export const isTitleStyle = (styleName: string): boolean => titleName.test(styleName.replaceAll("_20_", " ").trim())
