import { serve } from "./Serve.ts"

// The entry of a worker process: `pool/worker.ts` from source, `textWorker.js` beside the bundle.
await serve(async () => {
  const [{ prepareFile }, { countTokens }] = await Promise.all([import("./PrepareFile.ts"), import("../Tokens.ts")])
  // Loads the vocabulary now, so that the first file does not wait for it.
  countTokens("")
  return async (task, limits) => {
    if ("into" in task) return (await import("../containers/Open.ts")).open(task, limits)
    if ("quotes" in task) return (await import("../parse/source/FileSpans.ts")).locate(task, limits)
    if ("from" in task) return (await import("../parse/Pictures.ts")).picturesOf(task, limits)
    return prepareFile(task, limits)
  }
})
