/** Characters 0x61 on of Adobe's Symbol font: the Greek letters and what lies between. */
const symbolLower = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
const symbolUpper = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
const symbolSigns: Readonly<Record<number, string>> = {
  0x22: "∀",
  0x24: "∃",
  0x27: "∋",
  0x2a: "∗",
  0x2d: "−",
  0x40: "≅",
  0x5c: "∴",
  0x5e: "⊥",
  0x7e: "∼",
  0xa2: "′",
  0xa3: "≤",
  0xa4: "⁄",
  0xa5: "∞",
  0xab: "↔",
  0xac: "←",
  0xad: "↑",
  0xae: "→",
  0xaf: "↓",
  0xb0: "°",
  0xb1: "±",
  0xb2: "″",
  0xb3: "≥",
  0xb4: "×",
  0xb5: "∝",
  0xb6: "∂",
  0xb7: "•",
  0xb8: "÷",
  0xb9: "≠",
  0xba: "≡",
  0xbb: "≈",
  0xbc: "…",
  0xc6: "∅",
  0xc7: "∩",
  0xc8: "∪",
  0xc9: "⊃",
  0xcc: "⊂",
  0xce: "∈",
  0xcf: "∉",
  0xd1: "∇",
  0xd2: "®",
  0xd3: "©",
  0xd4: "™",
  0xd5: "∏",
  0xd6: "√",
  0xd7: "⋅",
  0xd8: "¬",
  0xd9: "∧",
  0xda: "∨",
  0xdb: "⇔",
  0xdc: "⇐",
  0xdd: "⇑",
  0xde: "⇒",
  0xdf: "⇓",
  0xe5: "∑",
  0xf2: "∫"
}

const wingdings: Readonly<Record<number, string>> = {
  0x6c: "•",
  0x6e: "■",
  0x6f: "□",
  0x71: "❑",
  0x76: "❖",
  0x9f: "•",
  0xa7: "▪",
  0xa8: "□",
  0xd8: "➢",
  0xdf: "←",
  0xe0: "→",
  0xe1: "↑",
  0xe2: "↓",
  0xe8: "➔",
  0xf0: "⇨",
  0xfb: "✗",
  0xfc: "✓",
  0xfd: "☒",
  0xfe: "☑"
}

/**
 * The character that a person sees for a code of a font that does not use Unicode: Symbol, Wingdings. Such codes are stored plain or in the
 * private area at U+F000. Pictures without an equivalent in Unicode are empty.
 */
export const symbolCharacter = (font: string, code: number): string => {
  const at = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code
  if (/wingdings/i.test(font)) return wingdings[at] ?? ""
  if (/^symbol/i.test(font)) {
    if (at >= 0x61 && at <= 0x7a) return symbolLower[at - 0x61] ?? ""
    if (at >= 0x41 && at <= 0x5a) return symbolUpper[at - 0x41] ?? ""
    return symbolSigns[at] ?? (at < 0x80 ? String.fromCharCode(at) : "")
  }
  return at > 0x10ffff || at < 0x20 ? "" : String.fromCodePoint(at)
}
