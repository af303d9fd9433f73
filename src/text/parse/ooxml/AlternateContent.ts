import { childAt, childElements, type XmlElement } from "../Xml.ts"

const texts = new Set(["w:t", "a:t", "m:t", "c:chart", "cx:chart", "dgm:relIds"])

const holdsText = (element: XmlElement): boolean => texts.has(element.name) || childElements(element).some(holdsText)

/** The first choice that has text, else the fallback: Office stores a text box for new and for old readers. */
export const chooseAlternate = (element: XmlElement): XmlElement | undefined =>
  childElements(element).find((choice) => choice.name === "mc:Choice" && holdsText(choice)) ??
    childAt(element, "mc:Fallback")
