import { Effect } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { dist } from "./Built.ts"
import { root } from "./Root.ts"
import { tempFolder, write } from "./TempFolder.ts"

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Packages that the programs below import besides the package: its peer dependency. */
const beside = ["effect"]

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

interface Finished {
  readonly code: number
  readonly output: string
}

/** Runs a program, and returns its output and exit code. */
export const run = (cwd: string, command: string, args: ReadonlyArray<string>) =>
  Effect.callback<Finished>((resume) => {
    const child = execFile(command, args, { cwd }, (_, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` })))
    return Effect.sync(() =>
      child.kill()
    )
  })

/** Packs the package as npm would publish it. `dist` is built already. */
const pack = (folder: string): Packed =>
  JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: dirname(dist),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  }))[0]

/**
 * A strict TypeScript project with the packed package installed: unpacked, with links to its dependencies and those of an app.
 * Nothing else of this repository can be resolved from it.
 */
export const app = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    write(cwd, {
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          strict: true,
          skipLibCheck: false,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          module: "nodenext",
          target: "es2023",
          types: ["node"],
          noEmit: true
        },
        include: ["*.ts"]
      }),
      "docs/leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
      ...files
    })
    const packed = pack(cwd)
    const installed = join(cwd, "node_modules/sluice")
    mkdirSync(installed, { recursive: true })
    execFileSync("tar", ["-xzf", join(cwd, packed.filename), "-C", installed, "--strip-components=1"])
    for (const name of new Set([...beside, ...declared(manifestOf(installed)), "@types/node"])) link(name, join(cwd, "node_modules"))
    return { cwd, packed }
  })

const link = (name: string, modules: string): void => {
  const target = join(root, "node_modules", name)
  if (!existsSync(target)) return
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(target, join(modules, name), "dir")
}

/** Packages that npm installs with a package, including required peers. Optional ones for other platforms are absent. */
export const declared = (
  { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Manifest
): ReadonlyArray<string> => {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers])]
}
