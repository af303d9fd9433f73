/**
 * What a person's terminal may be shown of text that others wrote: escapes, controls and bidirectional overrides
 * taken out, so that a file name or a document cannot drive the terminal.
 */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")

/** What a model wrote, without what it thought aloud before. */
export const withoutThoughts = (written: string): string => written.replace(/<think>[^]*?<\/think>/, "")
