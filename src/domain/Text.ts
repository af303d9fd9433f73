/**
 * Makes untrusted text safe for a terminal: removes escapes, control characters and bidirectional overrides, so that a
 * file name or a document cannot control the terminal.
 */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")

/** A model's text, without its thinking. */
export const withoutThoughts = (written: string): string => written.replace(/<think>[^]*?<\/think>/, "")
