import { Context, Effect, Layer, type Scope } from "effect"
import { bucketPath, type BucketFolders } from "../engines/embedded/stores/BucketPath.ts"
import * as FolderObjectStore from "../engines/embedded/stores/FolderObjectStore.ts"
import { ObjectStore } from "../ports/ObjectStore.ts"
import { TableStore } from "../ports/TableStore.ts"

/** Cloud Storage and BigQuery, with this machine's credentials, which are looked up at the first call. */
export const remoteStores: Effect.Effect<
  { readonly objects: ObjectStore["Service"]; readonly tables: TableStore["Service"] },
  never,
  Scope.Scope
> = Effect.gen(function*() {
  // Most servers do not use them.
  const [GcsObjectStore, BigQueryTableStore, Http, { GoogleAuth }] = yield* Effect.promise(() =>
    Promise.all([
      import("../engines/vertex/objectStore/GcsObjectStore.ts"),
      import("../engines/vertex/tableStore/BigQueryTableStore.ts"),
      import("../net/Http.ts"),
      import("../net/GoogleAuth.ts")
    ])
  )
  const stores = yield* Layer.build(
    Layer.merge(GcsObjectStore.layer(), BigQueryTableStore.layer()).pipe(Layer.provide([Http.layer(), GoogleAuth.layer()]))
  )
  return { objects: Context.get(stores, ObjectStore), tables: Context.get(stores, TableStore) }
})

/** An object store with mapped buckets in their folders, and other buckets in the remote store. */
export const mappedOr = (folders: BucketFolders, remote: ObjectStore["Service"]): ObjectStore["Service"] => {
  const mapped = FolderObjectStore.make(folders)
  const storeOf = (uri: string): ObjectStore["Service"] =>
    uri.startsWith("gs://") && bucketPath(folders, uri) === undefined ? remote : mapped
  return {
    get: (uri, maxBytes) => storeOf(uri).get(uri, maxBytes),
    put: (uri, body, options) => storeOf(uri).put(uri, body, options),
    list: (prefix) => storeOf(prefix).list(prefix),
    head: (uri) => storeOf(uri).head(uri),
    delete: (uri, revision) => storeOf(uri).delete(uri, revision)
  }
}
