declare module "word-extractor" {
  interface Options {
    /** Default true: typographic quotes and dashes become ASCII. */
    readonly filterUnicode?: boolean
  }
  interface Document {
    getBody(options?: Options): string
    getFootnotes(options?: Options): string
    getEndnotes(options?: Options): string
    getHeaders(options?: Options & { readonly includeFooters?: boolean }): string
    getFooters(options?: Options): string
    getAnnotations(options?: Options): string
    getTextboxes(options?: Options & { readonly includeHeadersAndFooters?: boolean; readonly includeBody?: boolean }): string
  }
  export default class WordExtractor {
    extract(source: string | Buffer): Promise<Document>
  }
}
