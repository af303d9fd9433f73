import { Effect, Layer, Stream } from "effect"
import { join } from "node:path"
import { storage } from "../../../connectors/storage/Storage.ts"
import type { StorageFactory } from "../../../src/compose/Imports.ts"
import { serveEmbedded } from "../../../src/compose/Server.ts"
import * as Corpora from "../../conformance/Corpora.ts"
import * as FileMetadata from "../../conformance/FileMetadata.ts"
import * as Files from "../../conformance/Files.ts"
import * as Operations from "../../conformance/Operations.ts"
import * as Retrieval from "../../conformance/Retrieval.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { hosted } from "./Engine.ts"

/** Reads of gs://slow/ never end. */
const slowly: StorageFactory = (config, context) => {
  const connector = storage(config, context)
  return { ...connector, read: (item, maxBytes) => item.uri.includes("/slow/") ? Stream.never : connector.read(item, maxBytes) }
}

/** The hosted engine, speaking HTTP with a server over the embedded one. */
const overHttp = Layer.unwrap(Effect.gen(function*() {
  const folder = yield* tempFolder
  write(folder, { "fine/docs/a.md": "A text to import.", "slow/docs/a.md": "A text that does not come." })
  const { url } = yield* serveEmbedded({
    dataDir: join(folder, "data"),
    version: "test",
    port: 0,
    storage: slowly,
    buckets: new Map(["fine", "slow"].map((name) => [name, join(folder, name)]))
  })
  return hosted(url)
}))

Corpora.suite("hosted -> HTTP -> server -> embedded", Layer.fresh(overHttp))
Files.suite("hosted -> HTTP -> server -> embedded", Layer.fresh(overHttp))
FileMetadata.suite("hosted -> HTTP -> server -> embedded", Layer.fresh(overHttp))
Retrieval.suite("hosted -> HTTP -> server -> embedded", Layer.fresh(overHttp))
Operations.suite("hosted -> HTTP -> server -> embedded", Layer.fresh(overHttp))
