import type { BlockSink } from "../BlockSink.ts"
import { oneLine } from "../BlockSink.ts"
import { childElements, isTrue, type XmlElement } from "../Xml.ts"

/** Writes the texts of form controls: labels, and what is entered or chosen (OpenDocument part 3, chapter 13). */
export const writeForms = (forms: XmlElement, sink: BlockSink): void => {
  for (const control of childElements(forms)) {
    const { attributes, name } = control
    if (name === "form:form" || name === "form:grid" || name === "form:column") {
      writeForms(control, sink)
      continue
    }
    if (name === "form:password" || name === "form:hidden") continue
    const choices = childElements(control).filter((choice) => choice.name === "form:option" || choice.name === "form:item")
    const chosen = choices.filter((choice) => isTrue(choice.attributes["form:current-selected"] ?? choice.attributes["form:selected"]))
    const entered = name === "form:checkbox" || name === "form:radio" || name === "form:button"
      ? ""
      : attributes["form:current-value"] ?? attributes["form:value"] ?? ""
    sink.add("paragraph", oneLine([attributes["form:label"] ?? "", entered, ...chosen.map(labelOf)].join(" ")))
  }
}

const labelOf = ({ attributes }: XmlElement): string => attributes["form:label"] ?? ""
