import { list, message, of, type Of, string } from "../Message.ts"
import { RagContexts, RagQuery } from "./Retrieval.ts"
import { Tool } from "./Tool.ts"

const fields = { query: of(RagQuery), tools: list(of(Tool)) }

export const AskContextsRequest = message("AskContextsRequest", fields)
export type AskContextsRequest = Of<typeof AskContextsRequest>
export const AskContextsResponse = message("AskContextsResponse", { response: string, contexts: of(RagContexts) })

export const AsyncRetrieveContextsRequest = message("AsyncRetrieveContextsRequest", fields)
export const AsyncRetrieveContextsResponse = message("AsyncRetrieveContextsResponse", { contexts: of(RagContexts) })
