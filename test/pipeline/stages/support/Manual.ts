import { writePdf } from "../../../text/parse/support/PdfWriter.ts"
import { zipOf } from "../../../text/parse/support/ZipWriter.ts"

/** A section of a manual: its heading, and what stands under it. */
type Section = readonly [heading: string, ...paragraphs: ReadonlyArray<string>]

const xhtml = (body: string): string =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Manual</title></head><body>${body}</body></html>`

const bodyOf = (sections: ReadonlyArray<Section>): string =>
  sections.map(([heading, ...paragraphs]) => `<h2>${heading}</h2>${paragraphs.map((text) => `<p>${text}</p>`).join("")}`).join("\n")

/** Lines of a page as a typesetter breaks them. */
const linesOf = (text: string, width = 70): ReadonlyArray<string> => {
  const lines = [""]
  for (const word of text.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > width) lines.push(word)
    else lines.push(`${lines.pop()} ${word}`.trim())
  }
  return lines
}

/** A manual in the formats that a vendor gives it in; the PDF's pages have a header and a number, and end in the middle of sections. */
export const manualFiles = (sections: ReadonlyArray<Section>): Readonly<Record<string, string | Uint8Array>> => {
  const lines = sections.flatMap(([heading, ...paragraphs]) => [`# ${heading}`, ...paragraphs.flatMap((text) => [...linesOf(text), ""])])
  const pages = Array.from({ length: Math.ceil(lines.length / 20) }, (_, page) => [
    "^ Pump manual, revision C",
    ...lines.slice(page * 20, page * 20 + 20),
    `_ ${page + 1}`
  ])
  const chapters = Object.fromEntries(sections.map((section, at) => [`c${at}.xhtml`, xhtml(bodyOf([section]))]))
  const opf = `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest>${
    sections.map((_, at) => `<item id="c${at}" href="c${at}.xhtml" media-type="application/xhtml+xml"/>`).join("")
  }</manifest><spine>${sections.map((_, at) => `<itemref idref="c${at}"/>`).join("")}</spine></package>`
  return {
    "manual.html": xhtml(`<h1>Pump manual</h1>${bodyOf(sections)}`),
    "manual.pdf": writePdf(pages),
    "manual.epub": zipOf({ mimetype: "application/epub+zip", "a.opf": opf, ...chapters })
  }
}

export const pump: ReadonlyArray<Section> = [
  [
    "Starting the pump",
    "Open the suction valve before the pump is started, and leave the pressure valve closed until the motor has reached its full speed. A pump that starts against an open valve draws more current than the fuse allows.",
    "Watch the gauge for the first two minutes. A needle that swings by more than 0.3 bar tells that air is left in the casing: stop the motor, open the vent, and begin again.",
    "The motor may be started six times an hour. More starts overheat the winding, and the thermal switch then keeps it off for 20 minutes."
  ],
  [
    "Changing the seal",
    "The shaft seal is a wearing part and is changed every 8000 hours of operation, or as soon as more than ten drops a minute come out under the casing. Order the seal by the number on the type plate.",
    "Drain the casing, take off the coupling guard, and pull the impeller with the tool that came with the pump. Never drive it off with a hammer: the shaft bends before the impeller lets go.",
    "Oil the new seal with the liquid that is pumped. Grease swells the rubber, and the seal then leaks within a week."
  ],
  [
    "Storing the pump",
    "A pump that stands still for more than three months is drained, dried with air, and filled with preserving oil up to the upper flange. Turn the shaft by hand once a month, by one and a quarter turns, so that the bearings do not stand in one place.",
    "Store it above freezing and out of the sun. Tanks of ammonia in the same room attack the copper of the winding even when they are closed.",
    "Before it runs again, let the oil out, rinse the casing twice, and measure the insulation of the motor: less than 2 megohms means that it has to be dried in an oven first."
  ]
]
