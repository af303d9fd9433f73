import { Effect, Layer } from "effect"
import type { EmbeddedOptions } from "../../src/embedded/Embedded.ts"
import * as ExtractiveGenerator from "../../src/models/ExtractiveGenerator.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { Engine } from "../../src/ports/Engine.ts"
import { serve } from "../../src/server/Server.ts"
import { State } from "../../src/state/State.ts"
import * as Corpora from "../conformance/Corpora.ts"
import * as Files from "../conformance/Files.ts"
import { importer } from "../conformance/importer.ts"
import * as Operations from "../conformance/Operations.ts"
import * as Retrieval from "../conformance/Retrieval.ts"
import { engine } from "../embedded/support/engine.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { hosted } from "./engine.ts"

const parent = "projects/local/locations/local"

/** The hosted engine, speaking HTTP with a server over the embedded one. */
const overHttp = (options?: Omit<EmbeddedOptions, "dataDir">) =>
  Layer.unwrap(Effect.gen(function*() {
    const dataDir = yield* tempFolder
    const behind = yield* Layer.build(Layer.mergeAll(
      engine(dataDir, options),
      HashEmbedder,
      ExtractiveGenerator.layer(),
      Layer.succeed(Engine, {
        name: "embedded",
        parent,
        target: parent,
        signature: "test",
        maxFileBytes: 1_000_000,
        remoteEmbedding: false,
        concurrency: 4
      })
    ).pipe(Layer.provide(importer), Layer.provideMerge(State.layer(dataDir))))
    const { url } = yield* Effect.flatMap(State, ({ database }) =>
      serve({ port: 0, database, version: "test", refuseImport: () => undefined, countTokens: (text) => text.length, terms: (text) => text.split(" ") })).pipe(
        Effect.provide(behind)
      )
    return hosted(url)
  }))

Corpora.suite("hosted -> HTTP -> server -> embedded", overHttp())
Files.suite("hosted -> HTTP -> server -> embedded", overHttp())
Retrieval.suite("hosted -> HTTP -> server -> embedded", overHttp())
Operations.suite("hosted -> HTTP -> server -> embedded", overHttp())
