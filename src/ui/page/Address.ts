import { useEffect, useState } from "preact/hooks"

/** Address of the current view: every view has one. */
export interface Address {
  readonly path: string
  readonly query: URLSearchParams
}

const here = (): Address => ({ path: location.pathname, query: new URLSearchParams(location.search) })
const moved = "sluice:moved"

export const go = (to: string, replace = false): void => {
  if (replace) history.replaceState(null, "", to)
  else history.pushState(null, "", to)
  dispatchEvent(new Event(moved))
}

export const useAddress = (): Address => {
  const [address, set] = useState(here)
  useEffect(() => {
    const update = () => set(here())
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null
      const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
      if (link === null || !plain || link.origin !== location.origin || !link.pathname.startsWith("/ui") || link.target !== "") return
      // Links within the page are left to the browser.
      if (link.hash !== "" && link.pathname === location.pathname && link.search === location.search) return
      event.preventDefault()
      go(link.pathname + link.search + link.hash)
    }
    addEventListener("popstate", update)
    addEventListener(moved, update)
    document.addEventListener("click", follow)
    return () => {
      removeEventListener("popstate", update)
      removeEventListener(moved, update)
      document.removeEventListener("click", follow)
    }
  }, [])
  return address
}

/** The filled fields of a form, as a query. */
export const fieldsOf = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].flatMap(([name, value]) => typeof value === "string" && value !== "" ? [[name, value]] : []))
