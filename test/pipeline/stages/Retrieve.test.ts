import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { compose, generateBy, type GroundedRequest, retrieve, retrieveEach } from "../../../src/index.ts"
import { scriptedModel, testServices } from "../../../src/Testing.ts"

const synonyms = [["PTO", "paid time off"]]

describe("synonyms of a retrieving stage", () => {
  it.effect.each([retrieve({ synonyms }), retrieveEach({ synonyms, queries: () => Effect.succeed([]) })])(
    "reach the search, and the generator after it",
    (stage) =>
      Effect.gen(function*() {
        const searched: Array<unknown> = []
        const answered: Array<GroundedRequest["synonyms"]> = []
        const { generator } = scriptedModel(["No."])
        const spied = {
          ...generator,
          answer: (request: GroundedRequest) => {
            answered.push(request.synonyms)
            return generator.answer(request)
          }
        }
        yield* compose(stage, generateBy(spied))({ question: "PTO?" }).pipe(
          Effect.provide(testServices({
            contexts: (request) => {
              searched.push(request.synonyms)
              return [{ text: "Thirty days.", file: "leave.md" }]
            }
          }))
        )
        assert.deepStrictEqual([searched, answered], [[synonyms], [synonyms]])
      })
  )
})
