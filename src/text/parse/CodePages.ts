/** The upper halves of the code pages of DOS and of the Macintosh that TextDecoder does not know. */
const upperHalves: Readonly<Record<number, string>> = {
  437:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0",
  850:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
  852: "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´­˝˛ˇ˘§÷¸°¨˙űŘř■ ",
  10006:
    "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬ΟΡ≈Τ«»…\u00a0ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\u00ad",
  10029:
    "ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u00a0ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ",
  10081:
    "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸĞğİıŞş‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙ\uf8a0ˆ˜¯˘˙˚¸˝˛ˇ"
}

/** Whether a charset is a DOS code page, which TextDecoder does not know. */
export const isDos = (label: string): boolean => upperHalves[dosPage(label)] !== undefined

const dosPage = (label: string): number => Number(/^(?:ibm|cp)-?(\d{3})$/.exec(label)?.[1])

/** Decodes text in a charset for which {@link isDos} is true. */
export const decodeDos = (bytes: Uint8Array, label: string): string => {
  const upper = upperHalves[dosPage(label)] ?? ""
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
    .replace(/[\x80-\xff]/g, (character) => upper.charAt(character.charCodeAt(0) - 0x80))
}

const labels: Readonly<Record<number, string>> = {
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  1200: "utf-16le",
  1201: "utf-16be",
  10000: "macintosh",
  10001: "shift_jis",
  10002: "big5",
  10003: "euc-kr",
  10007: "x-mac-cyrillic",
  10008: "gbk",
  10021: "windows-874",
  20866: "koi8-r",
  20932: "euc-jp",
  21866: "koi8-u",
  50220: "iso-2022-jp",
  50221: "iso-2022-jp",
  50222: "iso-2022-jp",
  51932: "euc-jp",
  51936: "gbk",
  51949: "euc-kr",
  54936: "gb18030",
  65001: "utf-8"
}

/** Code pages by the character set of a font (RTF 1.9.1, "Font Table"). */
const charsets: Readonly<Record<number, number>> = {
  0: 1252,
  77: 10000,
  78: 10001,
  79: 10003,
  80: 10008,
  81: 10002,
  85: 10006,
  86: 10081,
  87: 10021,
  88: 10029,
  89: 10007,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850
}

/** The code page of a font; `undefined` where the document's own applies. */
export const codePageOfCharset = (charset: number): number | undefined => charsets[charset]

/** Decodes bytes of a code page. Unknown code pages are read as Western. */
export const decodeCodePage = (codePage: number, bytes: ArrayLike<number>): string => {
  const upper = upperHalves[codePage]
  if (upper !== undefined) {
    return Array.from(bytes, (byte) => byte < 0x80 ? String.fromCharCode(byte) : upper[byte - 0x80] ?? "").join("")
  }
  return decoderOf(codePage).decode(Uint8Array.from(bytes))
}

const decoders = new Map<number, InstanceType<typeof TextDecoder>>()

const decoderOf = (codePage: number): InstanceType<typeof TextDecoder> => {
  let decoder = decoders.get(codePage)
  if (decoder === undefined) {
    decoder = new TextDecoder(labelOf(codePage))
    decoders.set(codePage, decoder)
  }
  return decoder
}

const labelOf = (codePage: number): string => {
  if (labels[codePage] !== undefined) return labels[codePage]
  if (codePage >= 1250 && codePage <= 1258) return `windows-${codePage}`
  // There is no ISO 8859-12.
  if (codePage >= 28591 && codePage <= 28605 && codePage !== 28602) return `iso-8859-${codePage - 28590}`
  return "windows-1252"
}
