/** How a collection lies: text that is searched or filtered by, and what is only kept. */
const text = (name: string, tokenization: "field" | "word" | "whitespace", searched = false) => ({
  name,
  dataType: ["text"],
  tokenization,
  indexFilterable: tokenization === "field" && !searched,
  indexSearchable: searched
})
const stored = (name: string, dataType: "text" | "int" | "text[]") => ({
  name,
  dataType: [dataType],
  indexFilterable: false,
  indexSearchable: dataType === "int" ? undefined : false
})

/** The properties that the service documents, which a collection has to have. */
export const documented = [
  { ...text("fileId", "field"), indexFilterable: true },
  { ...text("corpusId", "field"), indexFilterable: true },
  text("chunkId", "field"),
  text("chunkDataType", "field"),
  text("chunkData", "word", true),
  text("fileOriginalUri", "field")
]

/** Ours, which are added where they are missing. */
export const ours = [
  text("chunkTerms", "whitespace", true),
  stored("chunkOrdinal", "int"),
  stored("chunkHeadings", "text[]"),
  stored("chunkByteStart", "int"),
  stored("chunkByteEnd", "int"),
  stored("chunkFirstPage", "int"),
  stored("chunkLastPage", "int"),
  stored("chunkRecord", "text"),
  stored("fileDisplayName", "text"),
  stored("fileMetadata", "text"),
  stored("filePermissions", "text")
]
