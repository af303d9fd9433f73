import { printable } from "../../domain/Text.ts"
import type { Plan, PlanItem } from "../../pipeline/sync/Plan.ts"
import type { Output, Paint } from "../Output.ts"
import { generationLines } from "./Generations.ts"
import { count, plural, seconds } from "./Numbers.ts"
import type { Column } from "./Table.ts"
import { wrap } from "./Wrap.ts"

const colours: Readonly<Record<string, Parameters<Paint>[0]>> = {
  add: "green",
  change: "yellow",
  move: "cyan",
  delete: "red",
  held: "red",
  fail: "red",
  quarantined: "red"
}

export const planColumns = (paint: Paint): ReadonlyArray<Column> => [
  { title: "action", paint: (cell) => paint(colours[cell] ?? "dim", cell) },
  { title: "file", flexible: true },
  { title: "chunks", align: "right" },
  { title: "tokens", align: "right" },
  { title: "note", flexible: true }
]

const actions = {
  added: "add",
  changed: "change",
  moved: "move",
  unchanged: "unchanged",
  skipped: "skip",
  failed: "fail",
  quarantined: "quarantined",
  pending: "pending"
} as const

/** Groups a plan of many files by folder: files with one action in one folder. */
export class Folders {
  #rows = new Map<
    string,
    { readonly action: string; readonly source: string; folder: string; files: number; chunks: number; tokens: number }
  >()
  #depth = 3

  add(item: PlanItem): void {
    this.#count(
      item.type === "delete" ? (item.held ? "held" : "delete") : actions[item.outcome],
      item.source,
      folderOf(item.path, this.#depth),
      1,
      item.type === "delete" ? 0 : item.chunks ?? 0,
      item.type === "delete" ? 0 : item.tokens ?? 0
    )
    while (this.#rows.size > mostFolders && this.#depth > 0) {
      const before = this.#rows
      this.#rows = new Map()
      this.#depth -= 1
      for (const { action, chunks, files, folder, source, tokens } of before.values()) {
        this.#count(action, source, folderOf(folder, this.#depth), files, chunks, tokens)
      }
    }
  }

  get rows(): ReadonlyArray<ReadonlyArray<string>> {
    return [...this.#rows.values()]
      .map((
        { action, chunks, files, folder, source, tokens }
      ) => [action, `${source}: ${folder}`, chunks === 0 ? "" : count(chunks), tokens === 0 ? "" : count(tokens), plural(files, "file")])
      .toSorted((a, b) => (a[1] ?? "").localeCompare(b[1] ?? "", "en"))
  }

  #count(action: string, source: string, folder: string, files: number, chunks: number, tokens: number): void {
    const key = `${action}\n${source}\n${folder}`
    const row = this.#rows.get(key) ?? { action, source, folder, files: 0, chunks: 0, tokens: 0 }
    this.#rows.set(key, { ...row, files: row.files + files, chunks: row.chunks + chunks, tokens: row.tokens + tokens })
  }
}

/** Most lines of folders: with more, parent folders are shown instead. */
const mostFolders = 100

/** The first folders of a path, `/` at the end; `./` for the top. */
const folderOf = (path: string, depth: number): string => {
  const folders = path.split("/").slice(0, -1).slice(0, depth)
  return folders.length === 0 || folders[0] === "." ? "./" : `${folders.join("/")}/`
}

/** A row for one file of a plan, in the order of {@link planColumns}. */
export const planRow = (item: PlanItem): ReadonlyArray<string> => {
  const name = `${item.source}: ${item.path}`
  if (item.type === "delete") return [item.held ? "held" : "delete", name, "", "", item.held ? "needs --yes" : ""]
  const number = (n: number | undefined) => (n === undefined ? "" : count(n))
  const why = item.from === undefined ? [item.reason, item.message].filter((part) => part !== undefined).join(": ") : `from ${item.from}`
  const notes = [why, item.unfit].filter((note) => note !== undefined && note !== "")
  return [actions[item.outcome], name, number(item.chunks), number(item.tokens), notes.join("; ")]
}

const corpusLine = {
  create: "will be created",
  keep: "keeps its settings",
  update: "will be updated",
  replace: "will be REPLACED",
  candidate: "stays as it is; beside it a candidate is built"
}

/** Renders the totals of a plan: the corpus, counts by action, and costs. */
export const renderPlan = (plan: Plan, corpus: string, { paint, width }: Pick<Output["Service"], "paint" | "width">): string => {
  const { totals } = plan
  const broken = totals.failed + totals.quarantined
  const counts = [
    `${plan.unknown.length === 0 ? "" : `unknown to add for ${plan.unknown.join(", ")}, which only the service lists; `}${
      plan.unknown.length > 0 && totals.listed === 0 ? "" : `${count(totals.added)} to add, `
    }${count(totals.changed)} to change, ${count(totals.moved)} to move, ${count(totals.deleted)} to delete`,
    `${count(totals.unchanged)} unchanged, ${count(totals.skipped)} skipped`,
    ...(broken > 0 ? [`${count(broken)} cannot be read`] : []),
    ...(totals.held > 0 ? [`${plural(totals.held, "delete")} held`] : [])
  ]
  return [
    paint("bold", printable(`Corpus "${corpus}" ${corpusLine[plan.corpus.action]}`)),
    ...plan.corpus.changes.map(({ field, forcesReplacement, from, to }) =>
      wrap(
        printable(
          `  ${field}: ${from || "(unset)"} -> ${to}${forcesReplacement ? "  forces another corpus (run --candidate, or --replace)" : ""}`
        ),
        width,
        "    "
      )
    ),
    ...(plan.corpus.generations.length < 2
      ? []
      : generationLines(plan.corpus.generations).map((line) => wrap(printable(`  ${line}`), width, "    "))),
    wrap(counts.join(", "), width),
    wrap(
      `${plural(plan.chunks, "chunk")}, ${plural(plan.tokens, "token")}; ${count(plan.embeddings)} to embed (${
        plural(plan.embeddedTokens, "token")
      })` +
        (plan.embeddingRequests > 0 ? ` in ${plural(plan.embeddingRequests, "request")}` : "") +
        (plan.minutes > 0 ? `, about ${seconds(plan.minutes * 60)} at the configured rates` : "") +
        (plan.cost === undefined ? "" : `, cost ${plan.cost.toFixed(plan.cost < 1 ? 4 : 2)}`),
      width
    ),
    ...plan.warnings.map((warning) => paint("yellow", wrap(printable(`warning: ${warning}`), width, "  ")))
  ].join("\n")
}
