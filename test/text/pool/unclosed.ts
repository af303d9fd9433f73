import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { Pool } from "../../../src/text/pool/Pool.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"

// A program that uses a pool once and leaves it open.
const pool = new Pool({ size: 2, entry: new URL("./hostileWorker.ts", import.meta.url), limits: defaultLimits })
pool.submit({ content: new TextEncoder().encode("text"), name: "good", chunking: defaultChunking }, (outcome) => {
  console.log(outcome instanceof Error || "problem" in outcome ? outcome : outcome.chunks.length)
})
