import { describe, expect, it } from "vitest"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { ReadFailure } from "../../../src/text/parse/ReadFailure.ts"
import { openZip } from "../../../src/text/parse/Zip.ts"
import { writeZip, zipOf } from "./support/ZipWriter.ts"

const text = (bytes: Uint8Array | undefined): string | undefined => bytes === undefined ? undefined : Buffer.from(bytes).toString()

const problem = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof ReadFailure) return error.problem
    throw error
  }
  return "none"
}

const megabyte = 1024 * 1024

describe("openZip", () => {
  it("lists files without folders and reads stored and deflated ones", () => {
    const zip = openZip(
      writeZip([
        { name: "a/", content: "" },
        { name: "a/one.txt", content: "one", stored: true },
        { name: "a/zwei-ü.txt", content: "zwei ".repeat(100) }
      ]),
      defaultLimits
    )
    expect(zip.names()).toEqual(["a/one.txt", "a/zwei-ü.txt"])
    expect(text(zip.read("a/one.txt"))).toBe("one")
    expect(text(zip.read("a/zwei-ü.txt"))).toBe("zwei ".repeat(100))
    expect(zip.read("a/three.txt")).toBeUndefined()
  })

  it("does not take the directory of an archive stored inside for that of one that is cut off", () => {
    const inner = writeZip([{ name: "inner.txt", content: "inner" }])
    const outer = writeZip([{ name: "a.zip", content: inner, stored: true }, { name: "b.txt", content: "b ".repeat(20_000), stored: true }])
    expect(problem(() => openZip(outer.subarray(0, 30 + "a.zip".length + inner.length + 10), defaultLimits))).toBe("corrupt")
  })

  it("reads ZIP64 archives, archives with something before them, and empty entries", () => {
    const parts = [{ name: "a", content: "aaa" }, { name: "empty", content: "" }]
    const wide = openZip(writeZip(parts, { zip64: true }), defaultLimits)
    expect(text(wide.read("a"))).toBe("aaa")
    const prefixed = openZip(Buffer.concat([Buffer.from("#!/bin/sh\n"), writeZip(parts)]), defaultLimits)
    expect(text(prefixed.read("a"))).toBe("aaa")
    expect(text(prefixed.read("empty"))).toBe("")
  })

  it("takes the first of two entries with one name", () => {
    const zip = openZip(writeZip([{ name: "a", content: "first" }, { name: "a", content: "second" }]), defaultLimits)
    expect(text(zip.read("a"))).toBe("first")
  })

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["no archive", Buffer.from("hello ".repeat(20))],
    ["an archive cut off", zipOf({ a: "x".repeat(1000) }).subarray(0, 60)]
  ])("calls %s corrupt", (_, bytes) => {
    expect(problem(() => openZip(bytes, defaultLimits))).toBe("corrupt")
  })

  it("calls a damaged directory corrupt", () => {
    const bytes = Buffer.from(zipOf({ a: "aaa", b: "bbb" }))
    bytes.writeUInt32LE(0, bytes.indexOf("PK\x01\x02", bytes.indexOf("PK\x01\x02") + 1, "latin1"))
    expect(problem(() => openZip(bytes, defaultLimits))).toBe("corrupt")
  })

  it("calls entries whose headers lie corrupt, without unpacking more than they claim", () => {
    const shorter = openZip(writeZip([{ name: "a", content: "x".repeat(megabyte), claims: { unpacked: 10 } }]), defaultLimits)
    expect(problem(() => shorter.read("a"))).toBe("corrupt")
    const longer = openZip(writeZip([{ name: "a", content: "abc", claims: { unpacked: 10 } }]), defaultLimits)
    expect(problem(() => longer.read("a"))).toBe("corrupt")
    const changed = openZip(writeZip([{ name: "a", content: "abc", claims: { crc: 1 } }]), defaultLimits)
    expect(problem(() => changed.read("a"))).toBe("corrupt")
  })

  it("refuses passwords and unknown compression only when the entry is read", () => {
    const zip = openZip(
      writeZip([
        { name: "secret", content: "abc", encrypted: true },
        { name: "lzma", content: "abc", stored: true, claims: { method: 14 } },
        { name: "plain", content: "abc" }
      ]),
      defaultLimits
    )
    expect(problem(() => zip.read("secret"))).toBe("encrypted")
    expect(problem(() => zip.read("lzma"))).toBe("unsupported")
    expect(text(zip.read("plain"))).toBe("abc")
  })

  it("refuses bombs: expansion, total size, one long entry, many entries, overlaps", () => {
    const bomb = writeZip([{ name: "a", content: Buffer.alloc(8 * megabyte) }])
    expect(problem(() => openZip(bomb, defaultLimits).read("a"))).toBe("limit")
    const loose = { ...defaultLimits, expansion: 1_000_000 }
    expect(problem(() => openZip(bomb, loose).read("a"))).toBe("none")
    expect(problem(() => openZip(bomb, { ...loose, unpackedBytes: megabyte }).read("a"))).toBe("limit")
    expect(problem(() => openZip(bomb, loose).read("a", megabyte))).toBe("limit")
    const twice = openZip(bomb, { ...loose, unpackedBytes: 10 * megabyte })
    twice.read("a")
    expect(problem(() => twice.read("a"))).toBe("limit")
    expect(problem(() => openZip(zipOf({ a: "", b: "", c: "" }), { ...defaultLimits, entries: 2 }))).toBe("limit")
    const overlapping = writeZip([
      { name: "a", content: Buffer.alloc(megabyte) },
      { name: "b", content: "", sharesDataOf: 0 }
    ])
    expect(problem(() => openZip(overlapping, defaultLimits))).toBe("limit")
  })
})
