import * as fc from "fast-check"
import { expect, it } from "vitest"
import { describe as write, longestDescription, undescribe } from "../../src/wire/rag/Marker.ts"
import * as any from "./Arbitraries.ts"

const marker = { source: "handbook/docs", pathHash: "0".repeat(32), fingerprint: `${"1".repeat(32)}.${"2".repeat(32)}.${"3".repeat(32)}` }

it("stands on its own line after what a person wrote", () => {
  expect(write("Travel rules", marker)).toBe(
    `Travel rules\n[sluice:v1:handbook/docs:${marker.pathHash}:${marker.fingerprint}]`
  )
  expect(write(undefined, marker)).toMatch(/^\[sluice:v1:/)
  expect(write("Travel rules", undefined)).toBe("Travel rules")
  expect(write("", undefined)).toBeUndefined()
})

it("comes back to the letter, whatever is in its source and before it", () =>
  fc.assert(fc.property(any.marker, fc.option(any.text, { nil: undefined }), (marker, description) => {
    const back = undescribe(write(description, marker))
    expect(back).toEqual({ marker, ...(description === undefined || description === "" ? {} : { description }) })
  })))

it("is never cut: a person's text is", () => {
  const written = write("é😀".repeat(2000), marker) ?? ""
  expect(written.length).toBeLessThanOrEqual(longestDescription)
  expect(written.isWellFormed()).toBe(true)
  expect(undescribe(written).marker).toEqual(marker)
  expect(undescribe(written).description).toMatch(/^é😀.*…$/)
})

it.each([
  "plain",
  "[sluice:v1:a:b]",
  "[sluice:v2:a:b:c]",
  "[sluice:v1:a:b:c] and more",
  "before [sluice:v1:a:b:c]",
  "[sluice:v1:%zz:b:c]"
])("%s is only a description", (description) => {
  expect(undescribe(description)).toEqual({ description })
})
