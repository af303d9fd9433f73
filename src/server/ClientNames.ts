import { CorpusName } from "../domain/Corpus.ts"
import { OperationName } from "../domain/Operation.ts"
import { RagFileName } from "../domain/RagFile.ts"

/**
 * Names as a client writes them, and as the engine does, which has one project and location. Which of them a corpus
 * belongs to is kept with it (`CorpusPlaces`); a project's id and its number lead to the same corpora, and answers come
 * back under the names that were asked with.
 */
export class ClientNames {
  readonly #client: string
  readonly #engine: string

  /** @param asked any name of the request; @param engine `projects/{p}/locations/{l}` */
  constructor(asked: string, engine: string) {
    this.#client = parent.exec(asked)?.[0] ?? engine
    this.#engine = engine
  }

  /** `projects/{p}/locations/{l}`, as the client calls it. */
  get location(): string {
    return this.#client
  }

  /** The last part of it: a region's id, or `global`. */
  get locationId(): string {
    return this.#client.slice(this.#client.lastIndexOf("/") + 1)
  }

  /** The client's `projects/{p}`. */
  get project(): string {
    return this.#client.split("/").slice(0, 2).join("/")
  }

  toEngine(name: string): string {
    return name.replace(parent, this.#engine)
  }

  corpus(name: string): CorpusName {
    return CorpusName.make(this.toEngine(name))
  }

  file(name: string): RagFileName {
    return RagFileName.make(this.toEngine(name))
  }

  toClient(name: string): string {
    return name === this.#engine || name.startsWith(`${this.#engine}/`) ? `${this.#client}${name.slice(this.#engine.length)}` : name
  }

  /** Anything with a name in it. */
  renamed<A extends { readonly name: string }>(resource: A): A {
    // The brand of a name is its form, which stays.
    return { ...resource, name: this.toClient(resource.name) as A["name"] }
  }

  operation(parentName: string, id: string): OperationName {
    return OperationName.make(`${this.toClient(parentName)}/operations/${id}`)
  }

  /** A message of the engine's, which speaks of its own names. */
  message(text: string): string {
    return text.replaceAll(`${this.#engine}/`, `${this.#client}/`)
  }
}

const parent = /^projects\/[^/]+\/locations\/[^/]+/
