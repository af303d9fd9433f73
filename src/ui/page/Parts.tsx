import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { type Asked } from "./Client.ts"

export const number = new Intl.NumberFormat("en")

export const milliseconds = (time: number): string => time < 10 ? `${time.toFixed(1)} ms` : `${number.format(Math.round(time))} ms`

export const size = (bytes: number | undefined): string => {
  if (bytes === undefined) return ""
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

export const when = (time: string, timeStyle: "short" | "medium" = "short"): string =>
  new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle })

/** A path that may be broken into lines after each folder. */
export const breakable = (path: string): ComponentChildren =>
  path.split("/").map((part, at) => at === 0 ? part : ["/", <wbr key={at} />, part])

/** The title of a view. It takes the focus when the view opens, so that screen readers announce it. */
export const Title = ({ children }: { readonly children: ComponentChildren }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return <h1 ref={heading} tabIndex={-1}>{children}</h1>
}

/** Shows data once it has arrived, or the failure with its fix. */
export function Shown<A>({ asked, children }: { readonly asked: Asked<A>; readonly children: (data: A) => ComponentChildren }) {
  return (
    <div aria-live="polite" aria-busy={asked.busy}>
      {asked.failure !== undefined && (
        <p class="failure" role="alert">
          {asked.failure.message}
          {asked.failure.fix !== undefined && <span class="fix">{asked.failure.fix}</span>}
        </p>
      )}
      {asked.data !== undefined && children(asked.data)}
      {asked.data === undefined && asked.busy && <p class="quiet">Loading…</p>}
    </div>
  )
}

/** A bar for a share from 0 to 1. The caller prints the number beside it. */
export const Bar = ({ kind, share }: { readonly kind: string; readonly share: number }) => (
  <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width="100" height="8" />
    <rect class={kind} width={100 * Math.max(0, Math.min(1, share))} height="8" />
  </svg>
)

export interface Slice {
  readonly name: string
  readonly count: number
}

/** The parts of a whole as one bar. */
export const Parts = ({ slices }: { readonly slices: ReadonlyArray<Slice> }) => {
  const all = slices.reduce((sum, { count }) => sum + count, 0)
  let at = 0
  return (
    <svg class="parts" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {slices.map(({ count, name }) => {
        const x = at
        at += all === 0 ? 0 : 100 * count / all
        return <rect key={name} class={`of-${name}`} x={x} width={at - x} height="8" />
      })}
    </svg>
  )
}

export interface Column {
  readonly label: string
  readonly slices: ReadonlyArray<Slice>
}

/** A chart of columns of slices, oldest first. The table beside it shows the same to readers who cannot see it. */
export const Columns = ({ columns, title, unit }: {
  readonly columns: ReadonlyArray<Column>
  readonly title: string
  readonly unit: string
}) => {
  const totals = columns.map(({ slices }) => slices.reduce((sum, { count }) => sum + count, 0))
  const most = Math.max(1, ...totals)
  const [width, height] = [10, 60]
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="quiet">at most {number.format(Math.max(0, ...totals))} {unit}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(10, columns.length) * width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} of ${columns.length} runs`}
      >
        {columns.map(({ label, slices }, column) => {
          let y = height
          return (
            <g key={label}>
              <title>
                {`${label}: ${
                  slices.filter(({ count }) => count > 0).map(({ count, name }) => `${number.format(count)} ${name}`).join(", ") ||
                  "nothing"
                }`}
              </title>
              <rect class="track" x={column * width + 1} width={width - 2} height={height} />
              {slices.map(({ count, name }) => {
                const tall = height * count / most
                y -= tall
                return <rect key={name} class={`of-${name}`} x={column * width + 1} y={y} width={width - 2} height={tall} />
              })}
            </g>
          )
        })}
      </svg>
    </figure>
  )
}

/** Text with some spans marked, which are in order and do not overlap. Documents are shown as plain text only. */
export const Marked = ({ from = 0, spans, text, to = text.length }: {
  readonly text: string
  readonly spans: ReadonlyArray<readonly [number, number]>
  readonly from?: number
  readonly to?: number
}) => {
  const parts: Array<ComponentChildren> = []
  let at = from
  for (const [start, end] of spans) {
    if (end <= at || start >= to) continue
    parts.push(text.slice(at, Math.max(at, start)), <mark>{text.slice(Math.max(at, start), Math.min(end, to))}</mark>)
    at = Math.min(end, to)
  }
  return <>{parts}{text.slice(at, to)}</>
}

export const Headings = ({ headings, pages }: { readonly headings: ReadonlyArray<string>; readonly pages?: string | undefined }) =>
  headings.length === 0 && pages === undefined
    ? null
    : <p class="headings">{[...headings, ...(pages === undefined ? [] : [pages])].join(" › ")}</p>

export const pagesOf = (first: number | undefined, last: number | undefined): string | undefined =>
  first === undefined ? undefined : last === undefined || last === first ? `page ${first}` : `pages ${first} to ${last}`
