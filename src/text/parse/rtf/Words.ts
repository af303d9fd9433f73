const words = (list: string): ReadonlySet<string> => new Set(list.split(" "))

/** Control words and symbols that stand for characters. */
export const characters: Readonly<Record<string, string>> = {
  tab: "\t",
  line: "\n",
  lbr: "\n",
  emdash: "—",
  endash: "–",
  emspace: " ",
  enspace: " ",
  qmspace: " ",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  "~": " ",
  _: "-"
}

/** Groups without text to read, though they are not marked as ones to skip. */
export const silent = words(
  "colortbl fldinst nonshppict shprslt sp xe tc tcn rxe txe bkmkstart bkmkend listtable " +
    "listoverridetable revtbl filetbl rsidtbl generator info upr private ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn " +
    "falt panose mmathPict pgptbl pnseclvl"
)

/** Groups that old readers should skip, but not this one. */
export const wanted = words("objdata shppict shpinst shptxt footnote annotation atnauthor do ud moMath moMathPara")

/** Words that set a format and may follow the mark that old readers should skip a group. */
export const styling = words("cs b i ul ulnone f fs cf lang langfe langnp plain")
