/**
 * `npm run format`: formats every TypeScript file with dprint, with the settings of Effect's sources except for longer lines.
 * With `--check` nothing is written: files with another format are listed, and the command fails.
 */
import { createFromBuffer } from "@dprint/formatter"
import { getPath } from "@dprint/typescript"
import { globSync, readFileSync, writeFileSync } from "node:fs"

const formatter = createFromBuffer(readFileSync(getPath()))
formatter.setConfig({ indentWidth: 2, lineWidth: 140, newLineKind: "lf" }, {
  semiColons: "asi",
  quoteStyle: "alwaysDouble",
  quoteProps: "preserve",
  trailingCommas: "never",
  operatorPosition: "maintain",
  "arrowFunction.useParentheses": "force",
  // The order of imports has no meaning, so it is left alone.
  "module.sortImportDeclarations": "maintain",
  "module.sortExportDeclarations": "maintain",
  "importDeclaration.sortNamedImports": "maintain",
  "exportDeclaration.sortNamedExports": "maintain"
})

/** The formatted text. Passes are repeated, because a second pass may break a line that the first one made too long. */
const laidOut = (filePath: string, fileText: string, passes = 5): string => {
  const formatted = formatter.formatText({ filePath, fileText })
  return formatted === fileText || passes === 0 ? formatted : laidOut(filePath, formatted, passes - 1)
}

const checks = process.argv.includes("--check")
const other: Array<string> = []
for (
  const filePath of globSync(["{src,connectors,test,bench,scripts,examples,pipelines}/**/*.{ts,tsx}", "*.ts"], {
    exclude: ["bench/peers/**"]
  })
) {
  const fileText = readFileSync(filePath, "utf8")
  const formatted = laidOut(filePath, fileText)
  if (formatted === fileText) continue
  other.push(filePath)
  if (!checks) writeFileSync(filePath, formatted)
}
if (other.length > 0) console.log(`${checks ? "npm run format lays out otherwise:" : "formatted:"}\n${other.join("\n")}`)
if (checks && other.length > 0) process.exitCode = 1
