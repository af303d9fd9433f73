import { assert, describe, it } from "@effect/vitest"
import { Agenda, type Timing } from "../../../src/pipeline/watch/Agenda.ts"

const timing: Timing = { quiet: 300, maxWait: 5_000, settle: 2_000, retry: 1_000, maxRetry: 60_000, blind: 10_000, target: 3_600_000 }

const interval = 300_000

/** An agenda whose first batch is over at 0. */
const started = (sources = ["docs"]) => {
  const agenda = new Agenda(sources.map((id) => ({ id, interval })), 0, timing)
  assert.deepStrictEqual(agenda.take(0), sources)
  for (const id of sources) agenda.listed(id, 0, "nothing", true)
  return agenda
}

describe("agenda", () => {
  it("begins with everything, then waits for the interval", () => {
    const agenda = started(["docs", "drive"])
    assert.isTrue(agenda.quiet)
    assert.strictEqual(agenda.next, interval)
    assert.deepStrictEqual(agenda.take(interval - 1), [])
    assert.deepStrictEqual(agenda.take(interval), ["docs", "drive"])
  })

  it("waits for quiet after a hint, and takes the source concerned", () => {
    const agenda = started(["docs", "drive"])
    assert.isTrue(agenda.hint("docs", 1_000))
    assert.isFalse(agenda.quiet)
    assert.isFalse(agenda.hint("docs", 1_200))
    assert.strictEqual(agenda.next, 1_500)
    assert.deepStrictEqual(agenda.take(1_499), [])
    assert.deepStrictEqual(agenda.take(1_500), ["docs"])
  })

  it("does not wait for ever while hints keep coming", () => {
    const agenda = started()
    for (let now = 0; now < 20_000; now += 100) agenda.hint("docs", now)
    assert.strictEqual(agenda.next, timing.maxWait)
  })

  it("a hint during a batch is kept for the next one", () => {
    const agenda = started()
    agenda.hint("docs", 0)
    agenda.take(300)
    agenda.hint("docs", 400)
    agenda.listed("docs", 1_000, "nothing", true)
    assert.isFalse(agenda.quiet)
    assert.deepStrictEqual(agenda.take(1_000), ["docs"])
  })

  it("looks again at what was unsettled, ever more rarely while nothing comes of it", () => {
    const agenda = started()
    const waits: Array<number> = []
    let now = 0
    agenda.listed("docs", now, "unsettled", true)
    for (let look = 0; look < 8; look++) {
      assert.isFalse(agenda.quiet)
      waits.push(agenda.next - now)
      now = agenda.next
      agenda.take(now)
      agenda.listed("docs", now, "unsettled", false)
    }
    assert.deepStrictEqual(waits, [2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    agenda.take(agenda.next)
    agenda.listed("docs", now, "nothing", false)
    assert.isTrue(agenda.quiet)
  })

  it("a hint makes second looks prompt again", () => {
    const agenda = started()
    for (let look = 0; look < 6; look++) agenda.listed("docs", 0, "unsettled", false)
    agenda.hint("docs", 0)
    agenda.take(300)
    agenda.listed("docs", 300, "unsettled", false)
    assert.strictEqual(agenda.next, 300 + timing.settle)
  })

  it("after a failed batch everything waits, longer each time, and hints do not shorten it", () => {
    const agenda = started(["docs", "drive"])
    agenda.hint("docs", 0)
    assert.strictEqual(agenda.failed(agenda.take(300), 300), 1_000)
    agenda.hint("drive", 400)
    assert.strictEqual(agenda.next, 1_300)
    assert.deepStrictEqual(agenda.take(1_299), [])
    assert.deepStrictEqual(agenda.take(1_300), ["docs", "drive"])
    assert.strictEqual(agenda.failed(["docs", "drive"], 1_300), 2_000)
    assert.isFalse(agenda.quiet)
    assert.strictEqual(agenda.failed(["docs"], 3_300, 30_000), 30_000)
    for (const source of ["docs", "drive"]) agenda.listed(source, 40_000, "nothing", true)
    assert.isTrue(agenda.quiet)
    assert.strictEqual(agenda.failed(["docs"], 50_000), 1_000)
  })

  it("lists a source that cannot tell more often", () => {
    const agenda = started(["docs", "drive"])
    agenda.sees("docs", false, 1_000)
    assert.strictEqual(agenda.next, 11_000)
    assert.deepStrictEqual(agenda.take(11_000), ["docs"])
    agenda.listed("docs", 11_000, "nothing", false)
    assert.strictEqual(agenda.next, 21_000)
    agenda.take(21_000)
    agenda.sees("docs", true, 21_000)
    agenda.listed("docs", 21_000, "nothing", false)
    assert.strictEqual(agenda.next, interval)
  })

  it("everything is due after a jump of the clock, also backwards", () => {
    const agenda = started(["docs", "drive"])
    agenda.all()
    assert.deepStrictEqual(agenda.take(-1_000_000), ["docs", "drive"])
  })

  it("everything stays due where a release comes during a batch", () => {
    const agenda = started(["docs", "drive"])
    agenda.hint("docs", 0)
    agenda.take(300)
    agenda.all()
    agenda.listed("docs", 1_000, "nothing", true)
    assert.isFalse(agenda.quiet)
    assert.deepStrictEqual(agenda.take(1_000), ["docs", "drive"])
  })
})
