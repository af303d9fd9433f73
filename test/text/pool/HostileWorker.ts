import { appendFileSync } from "node:fs"
import { ReadFailure } from "../../../src/text/parse/ReadFailure.ts"
import { serve } from "../../../src/text/pool/Serve.ts"

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Takes memory so slowly that a guard who looks at it every 50 ms sees it come, on a busy machine too. */
const hold = async (mebibytes: number): Promise<number> => {
  const held: Array<Buffer> = []
  for (; held.length < mebibytes; await pause(5)) for (let n = 0; n < 5; n++) held.push(Buffer.alloc(2 ** 20, 1))
  await pause(400)
  return held.length
}

let messages = 0
if (process.send !== undefined) {
  process.send = new Proxy(process.send, {
    apply: (send, self, message) => {
      messages++
      return Reflect.apply(send, self, message)
    }
  })
}

/** A worker whose parser does to its process what the file's name says, and takes any other file as plain text. */
const misdeeds: Record<string, (text: string) => unknown> = {
  loop: () => {
    for (;;);
  },
  wait: () => pause(3_600_000),
  /** Another process has the processor. */
  nap: () => pause(20),
  allocate: () => {
    const numbers = new Float64Array(1_000_000).fill(1.5)
    const held: Array<Array<number>> = []
    for (;;) held.push(Array.from(numbers))
  },
  buffers: () => {
    const held: Array<Buffer> = []
    for (;;) held.push(Buffer.alloc(8 * 1024 * 1024, 1))
  },
  /** A document that is large when it is read. */
  hold100: () => hold(100),
  hold350: () => hold(350),
  abort: () => process.abort(),
  exit: () => process.exit(0),
  kill: () => process.kill(process.pid, "SIGKILL"),
  /** Leaves a mark in the file that it names. */
  tally: (text) => {
    appendFileSync(text.trim(), "x")
    process.kill(process.pid, "SIGKILL")
    for (;;);
  },
  later: () => {
    setTimeout(() => {
      throw new Error("thrown after the file was left")
    }, 0)
    return pause(1_000)
  },
  string: () => {
    throw "the document says: canary"
  },
  undefined: () => {
    throw undefined
  },
  error: () => {
    throw new TypeError("cannot read canary")
  },
  refuse: () => {
    throw new ReadFailure("encrypted", "the file needs a password\nand a second line")
  }
}

await serve(async () => async (raw) => {
  const text = new TextDecoder().decode(raw.content)
  await misdeeds[raw.name]?.(text)
  const end = raw.content.byteLength
  const whole = { ordinal: 0, text, headings: [], start: 0, end, byteStart: 0, byteEnd: end, tokens: 1 }
  const title = raw.name === "environment"
    ? JSON.stringify(process.env)
    : String(raw.name === "messages" ? messages : process.pid)
  return { format: "text", chunks: [whole], tokens: 1, title }
})
