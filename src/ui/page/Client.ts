import { useEffect, useRef, useState } from "preact/hooks"

/**
 * Key of the token in the tab's session storage. The token comes after the # of the address, and is kept out of addresses and
 * histories.
 */
const key = "sluice-token"

export const takeToken = (): void => {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (given === undefined) return
  sessionStorage.setItem(key, given)
  history.replaceState(null, "", location.pathname + location.search)
}

export const setToken = (token: string): void => sessionStorage.setItem(key, token)

/** A failure that the server reported, with its fix. */
export class Failure extends Error {
  readonly fix: string | undefined
  readonly status: number
  constructor(status: number, message: string, fix?: string) {
    super(message)
    this.status = status
    this.fix = fix
  }
}

const ask = async (path: string, signal: AbortSignal): Promise<unknown> => {
  const token = sessionStorage.getItem(key)
  const response = await fetch(`/ui/api${path}`, { signal, headers: token === null ? {} : { authorization: `Bearer ${token}` } })
  const body = await response.json().catch(() => ({}))
  if (response.ok) return body
  // Errors of access have the form of the server's main API.
  const { error, fix, message } = body as { message?: string; fix?: string; error?: { message?: string } }
  throw new Failure(response.status, message ?? error?.message ?? `the server answered ${response.status}`, fix)
}

/** State of a request to the server. While another request runs, the last response stays. */
export interface Asked<A> {
  readonly data?: A
  readonly failure?: Failure
  readonly busy: boolean
}

/**
 * Fetches the data of a view; nothing where `path` is undefined. `A` is the type that the API has for the path. `again` returns
 * the milliseconds after which to fetch the data once more, by the last data.
 */
export const useData = <A>(path: string | undefined, again?: (data: A) => number | undefined): Asked<A> => {
  const [asked, set] = useState<Asked<A> & { readonly of?: string }>({ busy: path !== undefined })
  const [round, next] = useState(0)
  const repeat = useRef(again)
  repeat.current = again
  useEffect(() => {
    if (path === undefined) return set({ busy: false })
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    set((last) => ({ ...last, busy: true }))
    ask(path, leaving.signal).then(
      (data) => {
        set({ data: data as A, busy: false, of: path })
        const wait = repeat.current?.(data as A)
        if (wait !== undefined) timer = setTimeout(() => next((n) => n + 1), wait)
      },
      (cause: unknown) => {
        if (leaving.signal.aborted) return
        const failure = cause instanceof Failure ? cause : new Failure(0, "the server does not answer", "check that it is still running")
        set({ failure, busy: false, of: path })
      }
    )
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [path, round])
  // Data of another path must not be shown for this one.
  return asked.of === undefined || asked.of === path ? asked : { busy: true }
}

/** An address with the defined parameters of a query. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodeURIComponent(value)}`]
  )
  return given.length === 0 ? path : `${path}?${given.join("&")}`
}
