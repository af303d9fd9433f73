import { Effect, Layer } from "effect"
import type { EmbeddedOptions } from "../../../src/engines/embedded/Embedded.ts"
import * as Corpora from "../../conformance/Corpora.ts"
import * as FileMetadata from "../../conformance/FileMetadata.ts"
import * as Files from "../../conformance/Files.ts"
import { importer } from "../../conformance/Importer.ts"
import * as Operations from "../../conformance/Operations.ts"
import * as Retrieval from "../../conformance/Retrieval.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { engine } from "./support/Engine.ts"

const fresh = (options?: Omit<EmbeddedOptions, "dataDir">) => Layer.unwrap(Effect.map(tempFolder, (folder) => engine(folder, options)))

Corpora.suite("embedded", fresh())
Files.suite("embedded", fresh())
FileMetadata.suite("embedded", fresh())
Retrieval.suite("embedded", fresh())
Retrieval.suite("embedded, hardly any memory", fresh({ memory: 1 }))
Retrieval.suite("embedded, in threads", fresh({ searchThreads: 2 }))
Operations.suite("embedded", fresh().pipe(Layer.provide(importer)))
