/** Reads the exports of the package's entries from their modules: for the reference, and for the test that every export is documented. */
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { parseSync } from "rolldown/utils"

/** The modules of the entries, by the name that each is imported by. */
export const entries: Readonly<Record<string, string>> = {
  sluice: "src/index.ts",
  "sluice/promise": "src/Promise.ts",
  "sluice/connector-kit": "src/ConnectorKit.ts",
  "sluice/ai": "src/Ai.ts",
  "sluice/testing": "src/Testing.ts",
  "sluice/connectors": "connectors/index.ts",
  "sluice/server": "src/compose/Server.ts"
}

/** An exported name. A name that is both a value and a type has two declarations. */
export interface Exported {
  /** Name with its namespace: `Pipeline.make`. */
  readonly name: string
  readonly file: string
  readonly declarations: ReadonlyArray<Declaration>
}

export interface Declaration {
  readonly text: string
  /** The doc comment before the declaration, without its delimiters. Empty where it has none. */
  readonly docs: string
}

interface Module {
  readonly declared: ReadonlyMap<string, ReadonlyArray<Declaration>>
  /** Exports in the order of the file. `local` is undefined for a whole module under a name. */
  readonly exported: ReadonlyArray<{ readonly name: string; readonly local: string | undefined; readonly from: string | undefined }>
  /** Imported names, to resolve exports that another module declares. */
  readonly imported: ReadonlyMap<string, { readonly local: string; readonly from: string }>
}

const textOfComment = (comment: string): string =>
  comment.replace(/^\/\*\*/, "").replace(/\*\/$/, "").split("\n").map((line) => line.replace(/^\s*\* ?/, "")).join("\n").trim()

const read = (file: string): Module => {
  const code = readFileSync(file, "utf8")
  const { comments, errors, program } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const declared = new Map<string, Array<Declaration>>()
  const exported: Array<Module["exported"][number]> = []
  const imported = new Map<string, { readonly local: string; readonly from: string }>()
  const declare = (name: string, node: { readonly start: number; readonly end: number }): void => {
    const before = comments.findLast(({ end, type, value }) =>
      type === "Block" && value.startsWith("*") && end <= node.start && code.slice(end, node.start).trim() === ""
    )
    const docs = before === undefined ? "" : textOfComment(code.slice(before.start, before.end))
    declared.set(name, [...declared.get(name) ?? [], { text: code.slice(node.start, node.end), docs }])
  }
  const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string =>
    node.name ?? String(node.value)
  for (const node of program.body) {
    const declaration = node.type === "ExportNamedDeclaration" && node.declaration !== null ? node.declaration : node
    const names = declaration.type === "VariableDeclaration"
      ? declaration.declarations.flatMap(({ id }) => id.type === "Identifier" ? [id.name] : [])
      : "id" in declaration && declaration.id !== null && declaration.id.type === "Identifier"
      ? [declaration.id.name]
      : []
    for (const name of names) {
      declare(name, node)
      if (declaration !== node) exported.push({ name, local: name, from: undefined })
    }
    if (node.type === "ImportDeclaration") {
      for (const specifier of node.specifiers) {
        if (specifier.type === "ImportSpecifier") {
          imported.set(specifier.local.name, { local: nameOf(specifier.imported), from: node.source.value })
        }
      }
    }
    if (node.type === "ExportNamedDeclaration") {
      for (const specifier of node.specifiers) {
        exported.push({ name: nameOf(specifier.exported), local: nameOf(specifier.local), from: node.source?.value })
      }
    }
    if (node.type === "ExportAllDeclaration") {
      if (node.exported === null) throw new Error(`${file} exports all of ${node.source.value} without a name: list what it exports`)
      exported.push({ name: nameOf(node.exported), local: undefined, from: node.source.value })
    }
  }
  return { declared, exported, imported }
}

/** The exports of a module, resolved to their declarations. `file` is a TypeScript file, or a declaration file beside others. */
export const exportsOf = (file: string, within = ""): ReadonlyArray<Exported> => {
  const module = read(file)
  return module.exported.flatMap(({ from, local, name }): ReadonlyArray<Exported> => {
    const source = from === undefined ? file : besides(file, from)
    if (local === undefined) return exportsOf(source, `${within}${name}.`)
    return [{ name: `${within}${name}`, ...declarationsOf(source, local) }]
  }).filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at)
}

const declarationsOf = (file: string, name: string): Pick<Exported, "file" | "declarations"> => {
  const module = read(file)
  const declarations = module.declared.get(name)
  if (declarations !== undefined) return { file, declarations }
  const elsewhere = module.exported.find((one) => one.name === name && one.from !== undefined)
  const found = elsewhere?.from === undefined ? module.imported.get(name) : { from: elsewhere.from, local: elsewhere.local ?? name }
  if (found === undefined) throw new Error(`${file} does not declare ${name}`)
  return declarationsOf(besides(file, found.from), found.local)
}

const besides = (file: string, path: string): string => {
  const target = resolve(dirname(file), path)
  return file.endsWith(".d.ts") ? target.replace(/(?:\.d)?\.[jt]s$/, ".d.ts") : target
}
