/** Indexes for searching and browsing a site, and maps of scripts, by how the programs that make them write their start. */
const generators: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/^Search\.setIndex\(/, "search index of Sphinx"],
  [/^\{\s*"config":\s*\{[\s\S]{0,2000}?\},\s*"docs":\s*\[\s*\{\s*"location":/, "search index of MkDocs"],
  [/^(?:window\.search\s*=\s*)?(?:Object\.assign\(window\.search,\s*)?(?:JSON\.parse\(')?\{"doc_urls":\s*\[/, "search index of mdBook"],
  [/^var (?:searchData=\s*\[\s*\['|indexSectionsWithContent\s*=\s*\{)/, "search index of Doxygen"],
  [/^var (?:NAVTREE(?:INDEX\d*)?\s*=\s*[[{]|menudata\s*=\s*\{children:)/, "navigation of Doxygen"],
  [/^(?:var )?(?:module|package|type|member|tag)SearchIndex = \[/, "search index of Javadoc"],
  [/^(?:var )?searchIndex = (?:new Map\()?JSON\.parse\('/, "search index of rustdoc"],
  [/^window\.searchData = (?:"|JSON\.parse\()/, "search index of TypeDoc"],
  [/^searchData=\{"/, "search index of ExDoc"],
  [/^%%\s*\n%% Search data file for /, "search index of EDoc"],
  [/^\{"version":"\d[\d.]*","fields":\[[^\]]*\],"(?:fieldVectors|documentStore|ref)":|^\[\{"documents":\[\{"i":/, "search index of Lunr"],
  [/^\{\s*"version":\s*3,\s*"(?:file|sources|sourceRoot|sections|names|mappings)":/, "source map"]
]

/**
 * What a generated index is, by the start of its text; undefined for other files. Such a file repeats words of all pages of a site, or of
 * all files of a program, without their sentences, so that it would be found for every question and answer none.
 */
export const generatedIndex = (head: string): string | undefined => {
  const start = head.replace(/^\ufeff?\s*(?:\/\*[\s\S]*?\*\/\s*)?/, "")
  return generators.find(([pattern]) => pattern.test(start))?.[1]
}
