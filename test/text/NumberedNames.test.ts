import { assert, describe, it } from "@effect/vitest"
import { numberedName, numberedNames } from "../../src/text/NumberedNames.ts"

describe("names with a number", () => {
  it.each(
    [
      ["peps/pep-0008.rst", "pep 8"],
      ["adr-0012-use-sqlite.md", "adr 12"],
      ["rfc2119.txt", "rfc 2119"],
      ["Kapitel_03.html", "kapitel 3"],
      ["2024-03-minutes.md", undefined],
      ["notes.md", undefined],
      ["python-3.8.rst", undefined]
    ] as const
  )("of the file %s: %s", (file, name) => assert.strictEqual(numberedName(file), name))

  it("of a question, as it writes them", () =>
    assert.deepStrictEqual([...numberedNames("Does PEP 8, pep-0484 or RFC2119 speak of Python 3.8 in chapter 3?")], [
      "pep 8",
      "pep 484",
      "rfc 2119",
      "chapter 3"
    ]))
})
