import { Effect } from "effect"
import type { Corpus } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { isSamePlace } from "../domain/Locations.ts"
import type { Corpora } from "../ports/Corpora.ts"
import type { ClientNames } from "./ClientNames.ts"

/** Whether a corpus belongs to a project and location. Corpora that were not made through the server belong to all. */
export const isOfPlace = ({ options }: Pick<Corpus, "options">, parent: string): boolean =>
  options?.place === undefined || isSamePlace(options.place, parent)

const corpusIn = /^(projects\/[^/]+\/locations\/[^/]+)\/ragCorpora\/[^/:]+/

/** Fails with `NOT_FOUND` where a name of a corpus, or of something in it, has another project or location than the corpus belongs to. */
export const checkPlace = (corpora: Corpora["Service"], names: ClientNames, name: string): Effect.Effect<void, ServiceError> => {
  const [corpus, parent] = corpusIn.exec(name) ?? []
  if (corpus === undefined || parent === undefined) return Effect.void
  return Effect.matchEffect(corpora.get(names.corpus(corpus)), {
    onSuccess: (found) => isOfPlace(found, parent) ? Effect.void : Effect.fail(ServiceError.notFound(`corpus ${corpus}`)),
    // A missing corpus is left to the handler: operations outlive their corpus.
    onFailure: (error) => error.code === "NOT_FOUND" ? Effect.void : Effect.fail(error)
  })
}
