export { parse, type ReadBlock, type ReadDocument, type ReadDocumentRequest } from "../text/ReadDocument.ts"
