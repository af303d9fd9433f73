import { Effect } from "effect"
import type { Corpus } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { isSamePlace } from "../domain/Locations.ts"
import type { Corpora } from "../ports/Corpora.ts"
import type { ClientNames } from "./ClientNames.ts"

/** Whether a corpus is one of a project and location. Those that were made beside the server are of all of them. */
export const isOfPlace = ({ options }: Pick<Corpus, "options">, parent: string): boolean =>
  options?.place === undefined || isSamePlace(options.place, parent)

const corpusIn = /^(projects\/[^/]+\/locations\/[^/]+)\/ragCorpora\/[^/:]+/

/** Fails with `NOT_FOUND` for a corpus, or what is in one, of another project or location than its name says. */
export const checkPlace = Effect.fnUntraced(function*(
  corpora: Corpora["Service"],
  names: ClientNames,
  name: string
): Effect.fn.Return<void, ServiceError> {
  const [corpus, parent] = corpusIn.exec(name) ?? []
  if (corpus === undefined || parent === undefined) return
  // One that is not there is its handler's to tell: operations outlive what they were about.
  const found = yield* corpora.get(names.corpus(corpus)).pipe(
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
  )
  if (found !== undefined && !isOfPlace(found, parent)) return yield* ServiceError.notFound(`corpus ${corpus}`)
})
