/** A site, from an address on. */
export interface WebConfig {
  /** Where the crawl begins. Pages of this host under this address's folder are taken. */
  readonly url: string
  /** `true`: the pages of the site's sitemaps, instead of following links. Or a sitemap's address. Default: follow links. */
  readonly sitemap?: boolean | string
  /** Globs over the path of an address, without its first `/`. Default: every page. */
  readonly include?: ReadonlyArray<string>
  readonly exclude?: ReadonlyArray<string>
  /** Default 1,000. */
  readonly maxPages?: number
  /** Links between the first page and another. Default 10. */
  readonly maxDepth?: number
  /** Default 2. */
  readonly requestsPerSecond?: number
  /** Default 2. */
  readonly concurrency?: number
  /** Hosts that are reached wherever they lead. Default: public addresses only. */
  readonly privateHosts?: ReadonlyArray<string>
  /** Bytes; larger pages are skipped. Default 10 MB for pages of HTML. */
  readonly maxFileSize?: number
}
