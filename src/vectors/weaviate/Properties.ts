/** A text property that is searched or filtered by. */
const text = (name: string, tokenization: "field" | "word" | "whitespace", searched = false) => ({
  name,
  dataType: ["text"],
  tokenization,
  indexFilterable: tokenization === "field" && !searched,
  indexSearchable: searched
})
/** A property that is only stored. */
const stored = (name: string, dataType: "text" | "int" | "text[]") => ({
  name,
  dataType: [dataType],
  indexFilterable: false,
  indexSearchable: dataType === "int" ? undefined : false
})

/** The properties that the service documents. An existing collection has to have them. */
export const documented = [
  { ...text("fileId", "field"), indexFilterable: true },
  { ...text("corpusId", "field"), indexFilterable: true },
  text("chunkId", "field"),
  text("chunkDataType", "field"),
  text("chunkData", "word", true),
  text("fileOriginalUri", "field")
]

/** The properties that Sluice adds where they are missing. */
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
