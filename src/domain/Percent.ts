/** A percent-encoded text as it was before it was encoded; as it is where it is not well encoded. */
export const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
