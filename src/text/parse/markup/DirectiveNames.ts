/** The directives of docutils and Sphinx, by what a reader sees of them. Others show their argument and their content. */
/** Directives whose content is code. */
export const codeDirectives: ReadonlySet<string> = new Set(
  "code code-block sourcecode literalinclude parsed-literal math doctest testcode testoutput prompt productionlist ipython"
    .split(" ")
)
/** Directives that mean nothing to a reader, with everything in them. */
export const silentDirectives: ReadonlySet<string> = new Set(
  ("include toctree raw contents sectnum index meta image currentmodule module highlight default-role role tabularcolumns " +
    "autosummary testsetup testcleanup graphviz digraph only-comment sectionauthor target-notes header footer").split(" ")
)
/** Directives whose argument is a name, a condition or a file, while their content is text. */
export const namedDirectives: ReadonlySet<string> = new Set("figure replace class rst-class cssclass container only ifconfig".split(" "))
