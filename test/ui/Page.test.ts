import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Context, Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import { browser, browserPath } from "../support/Browser.ts"
import { comparedProject, inspector } from "./Support.ts"

/** A page that keeps what it complains of and where else it asks. */
const opened = async (browser: Browser, base: string, options: Parameters<Browser["newContext"]>[0] = {}) => {
  const page = await (await browser.newContext(options)).newPage()
  // Bounds against hanging, also where others use the machine.
  page.setDefaultTimeout(180_000)
  const wrong: Array<string> = []
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()))
  page.on("pageerror", (error) => wrong.push(String(error)))
  page.on("request", (request) => !request.url().startsWith(base) && wrong.push(`asked ${request.url()}`))
  return { page, wrong }
}

/** All that a view asked for has come; it may ask several things. */
const settled = async (page: Page) => {
  await page.getByRole("heading", { level: 1 }).waitFor()
  while (await page.locator("[aria-busy=true]").count() > 0) await page.waitForTimeout(20)
}

/** What is in the way of somebody, as axe sees it by these rules, or by all of its own; and whether a phone has to be scrolled sideways. */
const barriers = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  await settled(page)
  await page.evaluate(axe.source)
  const found = await page.evaluate<ReadonlyArray<string>>(
    `axe.run(${
      JSON.stringify(rules === undefined ? {} : { runOnly: rules })
    }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))`
  )
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
  return wide > 0 ? [...found, `${page.url()} is ${wide} wider than the screen`] : found
}

/** Every view three times, and axe beside it: a bound against hanging also where others use the machine. */
const slow = 240_000

const question = "How many unused days of annual leave carry over?"

/** One inspector and one browser for all tests: both take longer to start than what is done with them. */
class Opened extends Context.Service<Opened, Effect.Success<typeof start>>()("test/ui/Opened") {}
const start = Effect.gen(function*() {
  const served = yield* inspector(yield* comparedProject, ["pipeline.yaml", "other.yaml"])
  return { ...served, chrome: yield* browser }
})

describe.skipIf(browserPath === undefined)(
  "the inspector in a browser",
  () =>
    layer(Layer.effect(Opened, start), { excludeTestServices: true })((it) => {
      it.effect("is walked through by links and by the keyboard, every view at its own address", () =>
        Effect.gen(function*() {
          const { address, base, chrome, id } = yield* Opened
          const { page, wrong } = yield* Effect.promise(() => opened(chrome, base))
          yield* Effect.promise(async () => {
            await page.goto(address)
            await page.getByRole("link", { name: "Test", exact: true }).click()
            await page.waitForURL(`${base}/ui/c/${id}`)
            assert.notInclude(page.url(), "token", "it does not stay in the address")
            await page.getByRole("heading", { name: "Test" }).waitFor()
            await settled(page)
            assert.strictEqual(await page.getByRole("link", { name: "1 skipped" }).count(), 1)
            await page.getByText("The last run skipped 1 more path as it listed the sources").waitFor()
            await page.getByRole("link", { name: "1 quarantined" }).click()
            await page.getByText("the PDF is damaged").waitFor()
            await settled(page)
            assert.strictEqual(await page.getByRole("row").count(), 2)

            await page.getByRole("link", { name: "Question" }).click()
            const field = page.getByRole("searchbox", { name: "Question" })
            await field.focus()
            await page.keyboard.type("hotle limits in Osaka")
            await page.keyboard.press("Enter")
            await page.waitForURL(/search\?q=hotle/)
            await page.getByText("corrected").first().waitFor()
            await settled(page)
            assert.includeMembers(await page.locator(".hits mark").allTextContents(), ["hotel", "limit", "Osaka"])
            assert.isAbove(await page.locator("svg.bar").count(), 2)
            await page.reload()
            await page.getByText("corrected").first().waitFor()

            await page.getByRole("textbox", { name: "Path of the file" }).fill("noise.bin")
            await page.keyboard.press("Enter")
            await page.getByText("skipped: unsupported").waitFor()

            await page.getByRole("combobox", { name: "Beside" }).selectOption({ label: "Other (other)" })
            await page.getByRole("button", { name: "Find" }).click()
            await page.getByRole("region", { name: "Found in Other (other)" }).getByText("number 1 in the other").first().waitFor()

            await page.getByRole("link", { name: "Map" }).click()
            await page.getByText("5 documents").first().waitFor()
            await settled(page)
            assert.strictEqual(await page.locator(".plane circle").count(), 5)
            await page.getByRole("link", { name: "near travel/hotels.md" }).focus()
            await page.keyboard.press("Enter")
            await page.getByRole("heading", { name: "Nearest to travel/hotels.md" }).waitFor()
            assert.strictEqual(await page.locator(".near li a").first().innerText(), "travel/hotels.md")
            await page.locator(".plane circle").first().click()
            await page.waitForURL((url) => url.search !== "" && !url.search.includes("hotels"))
            await page.locator(".near li a").first().click()
            await page.getByRole("region", { name: "Versions as a table" }).getByText("1, live").waitFor()

            await page.getByRole("link", { name: "Tests" }).click()
            await page.getByText("0 passed, 2 failed").waitFor()
            await page.locator(".cards a").first().click()
            await page.getByText("edited since: leave.md").waitFor()

            await page.goto(`${base}/ui/c/${id}/ask?q=${encodeURIComponent(question)}`)
            const sentence = page.locator("a.sentence").first()
            await sentence.focus()
            await page.keyboard.press("Enter")
            await page.waitForURL(/sentence=0/)
            const evidence = page.locator("li[aria-current=true]")
            assert.match(await evidence.locator("mark").innerText(), /Five unused days of annual leave carry over/)
            await evidence.getByRole("link").click()
            await page.locator(".chunks mark").waitFor()
            assert.strictEqual(await page.getByRole("heading", { level: 1 }).innerText(), "leave.md")
            await page.goBack()
            await page.waitForURL(/sentence=0/)
            assert.deepStrictEqual(wrong, [])
          })
        }))

      it.effect("takes documents for text, whatever is in them", () =>
        Effect.gen(function*() {
          const { address, ask, base, chrome, id } = yield* Opened
          const { page, wrong } = yield* Effect.promise(() => opened(chrome, base))
          yield* Effect.promise(async () => {
            const { body: { files: [hostile] } } = await ask(`/corpora/${id}/files?path=hostile`)
            await page.goto(address)
            await page.getByRole("heading", { name: "Corpora" }).waitFor()
            for (const path of [`d/${hostile.id}`, `search?q=${encodeURIComponent("prizes of Osaka")}`]) {
              await page.goto(`${base}/ui/c/${id}/${path}`)
              await page.getByText("prizes").first().waitFor()
              await settled(page)
              assert.include(await page.locator(".text").first().innerText(), "<script>document.title='owned'</script>")
              assert.strictEqual(await page.locator("main img, main script").count(), 0)
              assert.notInclude(await page.title(), "owned")
            }
            assert.deepStrictEqual(wrong, [])
          })
        }))

      it.effect("is open to everybody: in light and dark, on a phone, locked and with nothing found", () =>
        Effect.gen(function*() {
          const { address, ask, base, chrome, id } = yield* Opened
          const looks: Array<readonly [string, Parameters<Browser["newContext"]>[0]]> = [
            ["light", { colorScheme: "light", viewport: { width: 1280, height: 900 } }],
            ["dark", { colorScheme: "dark", viewport: { width: 1280, height: 900 } }],
            ["phone", { colorScheme: "light", viewport: { width: 390, height: 800 } }]
          ]
          yield* Effect.promise(async () => {
            const { body: { files: [rules] } } = await ask(`/corpora/${id}/files?path=rules`)
            const { body: [evaluation] } = await ask(`/corpora/${id}/evaluations`)
            const { body: [, other] } = await ask("/corpora")
            for (const [name, options] of looks) {
              const { page, wrong } = await opened(chrome, base, options)
              await page.goto(address)
              await page.getByRole("heading", { name: "Corpora" }).waitFor()
              for (
                const path of [
                  "",
                  "/files",
                  "/map",
                  "/map?path=rules",
                  "/tests",
                  `/tests/${evaluation.name}`,
                  `/d/${rules.id}`,
                  `/search?q=${encodeURIComponent("hotel limit in Osaka")}&where=${
                    encodeURIComponent("title == \"Leave\"")
                  }&path=noise.bin&beside=${other.id}`,
                  `/ask?q=${encodeURIComponent(question)}&sentence=0`,
                  `/ask?q=${encodeURIComponent("Who painted the ceiling of the Sistine Chapel?")}`
                ]
              ) {
                await page.goto(`${base}/ui/c/${id}${path}`)
                if (path.startsWith("/tests/")) {
                  const measure = page.getByRole("rowheader", { name: "reciprocal rank" })
                  await measure.waitFor()
                  const lines = await measure.evaluate((cell) => {
                    const word = cell.ownerDocument.createRange()
                    word.setStart(cell.firstChild, 0)
                    word.setEnd(cell.firstChild, "reciprocal".length)
                    return word.getClientRects().length
                  })
                  assert.strictEqual(lines, 1, `words stay whole: ${name}`)
                }
                assert.deepStrictEqual(await barriers(page, name === "dark" ? ["color-contrast"] : undefined), [], `${name} ${path}`)
              }
              assert.deepStrictEqual(wrong, [])
            }
            const { page } = await opened(chrome, base)
            await page.goto(`${base}/ui/c/${id}`)
            await page.getByRole("heading", { name: "Locked" }).waitFor()
            assert.deepStrictEqual(await barriers(page), [])
            await page.getByLabel("The server's token").fill(address.split("token=")[1] ?? "")
            await page.keyboard.press("Enter")
            await page.getByRole("heading", { name: "Test" }).waitFor()
          })
        }), slow)
    })
)
