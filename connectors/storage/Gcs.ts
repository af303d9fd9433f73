import { Effect } from "effect"
import type { GcsClient } from "../../src/net/gcs/GcsClient.ts"
import type { GcsObject } from "../../src/net/gcs/GcsObject.ts"
import type { ObjectApi, StoredObject } from "./Objects.ts"

/** Cloud Storage: the revision is the generation, which changes with the content and nothing else. */
export const gcsApi = (client: GcsClient): ObjectApi => ({
  list: (bucket, prefix, position, size) =>
    Effect.map(client.list(bucket, prefix, position, size), ({ items = [], nextPageToken }) => ({
      objects: items.map(stored),
      ...(nextPageToken === undefined ? {} : { token: nextPageToken })
    })),
  head: (bucket, key) => Effect.map(client.head(bucket, key), stored),
  open: (bucket, key, generation, offset) => client.open(bucket, key, { generation, offset })
})

const stored = (object: GcsObject): StoredObject => ({
  key: object.name,
  revision: object.generation,
  size: object.size,
  compressed: object.contentEncoding === "gzip",
  ...(object.contentType === undefined ? {} : { contentType: object.contentType }),
  ...(object.updated === undefined ? {} : { updated: object.updated }),
  ...(object.metadata === undefined ? {} : { metadata: object.metadata })
})
