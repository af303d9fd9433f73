import { useMemo, useRef, useState } from "preact/hooks"
import type { MapView } from "../Api.ts"
import { type Address, fieldsOf, go } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { breakable, number, Shown, Title } from "./Parts.tsx"

type Point = MapView["points"][number]

/** Width and height of the drawing, and the margin around the points, in the drawing's units. */
const [wide, high, room] = [1_000, 800, 20]

/** Most documents listed beside the drawing. */
const mostListed = 50

/** A map of the documents of a corpus by their vectors, and the same as a list for readers who cannot see it. */
export const DocumentMap = ({ id, query }: { readonly id: string; readonly query: Address["query"] }) => {
  const asked = useData<MapView>(`/corpora/${id}/map`)
  const [path, at] = [query.get("path") ?? "", query.get("at") ?? undefined]
  const here = `/ui/c/${id}/map`
  return (
    <>
      <Title>Map</Title>
      <form
        class="row"
        role="search"
        key={path}
        onSubmit={(event) => {
          event.preventDefault()
          go(withQuery(here, fieldsOf(event.currentTarget)))
        }}
      >
        <label class="wide">
          Path has<input type="search" name="path" value={path} />
        </label>
        <button>Show</button>
      </form>
      <Shown asked={asked}>
        {(map) =>
          map.points.length === 0
            ? (
              <p>
                {map.of === 0 ? "There are no documents yet." : "The vectors are in a separate database, and cannot be shown here."}
              </p>
            )
            : <Drawn map={map} id={id} path={path} at={at} here={here} />}
      </Shown>
    </>
  )
}

const Drawn = ({ at, here, id, map, path }: {
  readonly map: MapView
  readonly id: string
  readonly path: string
  readonly at: string | undefined
  readonly here: string
}) => {
  const { groups, of, points, seen, without } = map
  const [pointed, point] = useState<Point>()
  const wanted = path.toLowerCase()
  const isShown = (each: Point): boolean => each.path.toLowerCase().includes(wanted)
  const chosen = points.find(({ document }) => document === at)
  const listed = points.filter(isShown).toSorted(
    chosen === undefined ? (a, b) => a.path < b.path ? -1 : 1 : (a, b) => distance(a, chosen) - distance(b, chosen)
  )
  const near = (document: string) => withQuery(here, { path, at: document })
  return (
    <>
      <p class="quiet">
        {points.length < of
          ? `${number.format(points.length)} of ${number.format(of)} documents, a sample of all`
          : `${number.format(of)} documents`}
        , each by its first chunk. Documents with similar meaning are near each other, as far as two dimensions can show it: they show{" "}
        {(seen * 100).toFixed(0)}% of the differences
        {without > 0 && `. ${number.format(without)} have no vector here`}.
      </p>
      <ul class="legend">
        {groups.map(({ name, points }, at) => (
          <li key={name}>
            <span class={`dot in-${at}`} />
            {name} <span class="quiet">{number.format(points)}</span>
          </li>
        ))}
      </ul>
      <div class="map">
        <div class="plane">
          <Points
            points={points}
            wanted={wanted}
            shown={isShown}
            point={point}
            choose={({ document }) => go(near(document))}
            marked={pointed ?? chosen}
          />
          <p class="quiet" aria-hidden="true">
            {pointed?.path ?? chosen?.path ?? "Point at a dot to see which document it is; choose it to see what is near."}
          </p>
        </div>
        <section aria-labelledby="listed">
          <h2 id="listed">{chosen === undefined ? "Documents" : `Nearest to ${chosen.path}`}</h2>
          {chosen !== undefined && (
            <p>
              <a href={withQuery(here, { path })}>All documents</a>
            </p>
          )}
          {listed.length === 0 && <p>No document matches.</p>}
          <ol class="near">
            {listed.slice(0, mostListed).map((each) => (
              <li
                key={each.document}
                onMouseEnter={() => point(each)}
                onMouseLeave={() => point(undefined)}
                onFocusCapture={() => point(each)}
              >
                <span class={`dot in-${each.group}`} />
                <a href={`/ui/c/${id}/d/${each.document}`}>{breakable(each.path)}</a>
                {each !== chosen && (
                  <span class="quiet">
                    <a href={near(each.document)} aria-label={`near ${each.path}`}>near</a>
                  </span>
                )}
              </li>
            ))}
          </ol>
          {listed.length > mostListed && (
            <p class="quiet">and {number.format(listed.length - mostListed)} more: say what their path has, or choose one</p>
          )}
        </section>
      </div>
    </>
  )
}

const distance = (a: Point, b: Point): number => Math.hypot(across(a) - across(b), down(a) - down(b))

const across = ({ x }: Point): number => room + x * (wide - 2 * room)
const down = ({ y }: Point): number => room + (1 - y) * (high - 2 * room)

const Points = ({ choose, marked, point, points, shown, wanted }: {
  readonly points: ReadonlyArray<Point>
  readonly wanted: string
  readonly shown: (point: Point) => boolean
  readonly point: (point: Point | undefined) => void
  readonly choose: (point: Point) => void
  readonly marked: Point | undefined
}) => {
  const drawing = useRef<SVGSVGElement>(null)
  // Memoized: thousands of dots must not be drawn again whenever one is pointed at.
  const dots = useMemo(
    () =>
      points.map((each) => (
        <circle
          key={each.document}
          class={`in-${each.group}${shown(each) ? "" : " dim"}`}
          cx={across(each)}
          cy={down(each)}
          r={points.length > 500 ? 5 : 8}
        />
      )),
    [points, wanted]
  )
  const nearest = (event: MouseEvent): Point | undefined => {
    const box = drawing.current?.getBoundingClientRect()
    if (box === undefined) return undefined
    const [x, y] = [(event.clientX - box.left) * wide / box.width, (event.clientY - box.top) * high / box.height]
    let best: Point | undefined
    let least = reach
    for (const each of points) {
      const far = Math.hypot(across(each) - x, down(each) - y)
      if (far < least && shown(each)) [best, least] = [each, far]
    }
    return best
  }
  return (
    <svg
      ref={drawing}
      viewBox={`0 0 ${wide} ${high}`}
      role="img"
      aria-label={`${points.length} documents as points; the list beside it shows the same`}
      onMouseMove={(event) => point(nearest(event))}
      onMouseLeave={() => point(undefined)}
      onClick={(event) => {
        const found = nearest(event)
        if (found !== undefined) choose(found)
      }}
    >
      {dots}
      {marked !== undefined && <circle class="here" cx={across(marked)} cy={down(marked)} r="14" />}
    </svg>
  )
}

/** Distance within which a dot counts as pointed at, in the drawing's units. */
const reach = 40
