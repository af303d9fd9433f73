import { Pool } from "../../../src/text/pool/Pool.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { defaultChunking } from "../../../src/domain/Chunking.ts"

// A parent to be killed: one of its workers is idle, the other loops.
const pool = new Pool({ size: 2, entry: new URL("./HostileWorker.ts", import.meta.url), limits: defaultLimits })
const content = new TextEncoder().encode("text")
pool.submit({ content, name: "loop", chunking: defaultChunking }, () => {})
pool.submit({ content, name: "good", chunking: defaultChunking }, () => console.log("ready"))
