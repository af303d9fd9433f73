import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { Pool } from "../../../src/text/pool/Pool.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"

// A program that uses a pool once and leaves it open.
const pool = new Pool({ size: 2, entry: new URL("./HostileWorker.ts", import.meta.url), limits: defaultLimits })
pool.submit({ content: new TextEncoder().encode("text"), name: "good", chunking: defaultChunking }, (outcome) => {
  if (outcome instanceof Error || !("chunks" in outcome)) return console.log(outcome)
  console.log(outcome.chunks.length)
  // An idle worker goes after a while: one that is there shows that nobody waited for that.
  process.on("exit", () => {
    if (process.kill(Number(outcome.title), 0)) console.log("ended before its idle worker")
  })
})
