import { isHidden, isNoText } from "../Html.ts"
import { isXhtml, walkHtml } from "../html/HtmlTokens.ts"
import type { Visible } from "./Visible.ts"

/** Elements whose start and end do not separate words. */
const inline = new Set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike strong sub sup time tt u var wbr"
    .split(" ")
)

/** Adds the visible text of HTML, at `offset` of the source, boilerplate and all. */
export const htmlVisible = (html: string, visible: Visible, offset = 0): Visible => {
  let skipped = 0
  const open: Array<boolean> = []
  walkHtml(
    html,
    {
      open: (name, attributes) => {
        open.push(isNoText(name, attributes) || isHidden(attributes))
        if (open.at(-1)!) skipped++
        if (!inline.has(name)) visible.gap()
      },
      close: (name) => {
        if (open.pop() === true) skipped--
        if (!inline.has(name)) visible.gap()
      },
      text: (data, start, end) => {
        // A soft hyphen is not part of a word.
        if (skipped > 0 || data === "\u00ad") return
        if (data.length !== end - start || html.startsWith("&", start)) return visible.decoded(data, start + offset, end + offset)
        let from = start
        for (let at = data.indexOf("\u00ad"); at !== -1; at = data.indexOf("\u00ad", at + 1)) {
          visible.verbatim(html, from, start + at, offset)
          from = start + at + 1
        }
        visible.verbatim(html, from, end, offset)
      }
    },
    isXhtml(html)
  )
  return visible
}
