import { CorpusName } from "../domain/Corpus.ts"
import { OperationName } from "../domain/Operation.ts"
import { RagFileName } from "../domain/RagFile.ts"

/**
 * Translates resource names between a client and the engine, which has a single project and location. The place that a corpus
 * belongs to is stored with it (`CorpusPlaces`). A project's id and its number are equivalent, and responses use the names
 * that the request used.
 */
export class ClientNames {
  readonly #client: string
  readonly #engine: string

  /** @param asked any name of the request; @param engine `projects/{p}/locations/{l}` */
  constructor(asked: string, engine: string) {
    this.#client = parent.exec(asked)?.[0] ?? engine
    this.#engine = engine
  }

  /** The client's `projects/{p}/locations/{l}`. */
  get location(): string {
    return this.#client
  }

  /** Id of the client's location: a region, or `global`. */
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

  /** A resource of the engine under the client's name. */
  renamed<A extends { readonly name: string }>(resource: A): A {
    // Renaming keeps the form of the name, which is what its brand stands for.
    return { ...resource, name: this.toClient(resource.name) as A["name"] }
  }

  operation(parentName: string, id: string): OperationName {
    return OperationName.make(`${this.toClient(parentName)}/operations/${id}`)
  }

  /** A message of the engine with its resource names replaced by the client's. */
  message(text: string): string {
    return text.replaceAll(`${this.#engine}/`, `${this.#client}/`)
  }
}

const parent = /^projects\/[^/]+\/locations\/[^/]+/
