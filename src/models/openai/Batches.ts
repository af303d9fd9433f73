export interface BatchLimits {
  /** Most texts of one request. Default 64. */
  readonly texts: number
  /** Most tokens of one request, by a cautious estimate of three bytes a token. Default 50,000. */
  readonly tokens: number
}

interface Entry {
  /** Index in the caller's list. */
  readonly at: number
  readonly text: string
}

/** Divides texts into requests within the limits; blank ones are left out. A text over the token limit goes alone. */
export const batchesOf = (texts: ReadonlyArray<string>, prefix: string, limits: Partial<BatchLimits> = {}): Array<Array<Entry>> => {
  const { texts: maxTexts = 64, tokens: maxTokens = 50_000 } = limits
  const batches: Array<Array<Entry>> = []
  let room = 0
  texts.forEach((text, at) => {
    if (text.trim() === "") return
    const tokens = Math.ceil(Buffer.byteLength(prefix + text) / 3)
    const batch = batches.at(-1)
    if (batch === undefined || batch.length >= maxTexts || tokens > room) {
      batches.push([{ at, text: prefix + text }])
      room = maxTokens - tokens
    } else {
      batch.push({ at, text: prefix + text })
      room -= tokens
    }
  })
  return batches
}
