import type { PageRequest } from "../../ports/Paging.ts"

/** Zero and empty are what a proto says for nothing. */
export const pageOf = (query: { readonly pageSize?: number; readonly pageToken?: string }): PageRequest => ({
  ...(query.pageSize === undefined || query.pageSize === 0 ? {} : { size: query.pageSize }),
  ...(query.pageToken === undefined || query.pageToken === "" ? {} : { token: query.pageToken })
})
