/** The ISO 639-1 code of a language tag: `de` of `de-AT`. */
export const languageCode = (tag: string | undefined): string | undefined =>
  /^([a-z]{2})(?:[-_]|$)/i.exec(tag?.trim() ?? "")?.[1]?.toLowerCase()
