import { assert, describe, it } from "@effect/vitest"
import { ByteCache } from "../../src/search/ByteCache.ts"

describe("ByteCache", () => {
  it("keeps what was used last, up to its bytes, and lets go of what was used longest ago", () => {
    // Each entry costs a hundred bytes besides its own.
    const cache = new ByteCache(1_000)
    const made: Array<string> = []
    const get = (key: string, bytes = 150): string =>
      cache.get(key, () => {
        made.push(key)
        return key
      }, () => bytes)
    for (const key of ["a", "b", "c", "d"]) assert.strictEqual(get(key), key)
    get("a")
    get("e")
    assert.deepStrictEqual(made.splice(0), ["a", "b", "c", "d", "e"])
    for (const key of ["c", "d", "a", "e"]) get(key)
    assert.deepStrictEqual(made, [])
    get("b")
    get("d")
    get("c")
    assert.deepStrictEqual(made.splice(0), ["b", "c"])
    get("huge", 901)
    for (const key of ["e", "b", "d", "c"]) get(key)
    get("huge", 901)
    assert.deepStrictEqual(made.splice(0), ["huge", "huge"])
    cache.put("c", "other", 650)
    assert.strictEqual(get("c"), "other")
    get("d")
    get("e")
    assert.strictEqual(get("c"), "c")
    assert.deepStrictEqual(made, ["e", "c"])
  })
})
