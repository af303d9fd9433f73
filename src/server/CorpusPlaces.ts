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
export const checkPlace = (corpora: Corpora["Service"], names: ClientNames, name: string): Effect.Effect<void, ServiceError> => {
  const [corpus, parent] = corpusIn.exec(name) ?? []
  if (corpus === undefined || parent === undefined) return Effect.void
  return Effect.matchEffect(corpora.get(names.corpus(corpus)), {
    onSuccess: (found) => isOfPlace(found, parent) ? Effect.void : Effect.fail(ServiceError.notFound(`corpus ${corpus}`)),
    // One that is not there is its handler's to tell: operations outlive what they were about.
    onFailure: (error) => error.code === "NOT_FOUND" ? Effect.void : Effect.fail(error)
  })
}
