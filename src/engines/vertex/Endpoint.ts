import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isConfidential, withoutSlash } from "../../domain/HttpAddress.ts"

/** Address of the service. */
export interface Endpoint {
  /** Scheme, host and any path before `/v1`, without a slash at the end. */
  readonly baseUrl: string
  readonly host: string
  /** Whether the address is Google's own, so that Google credentials may be sent to it. */
  readonly google: boolean
}

/**
 * The address of a location: a regional host, the host without a region for `global`, or `baseUrl` instead. Plain http is allowed for this
 * machine only.
 */
export const endpointOf = (location: string, baseUrl?: string): Result.Result<Endpoint, ServiceError> => {
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`
  const url = URL.parse(baseUrl ?? `https://${host}`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return Result.fail(ServiceError.invalid("baseUrl", "expected an http or https address, such as http://127.0.0.1:8686"))
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return Result.fail(ServiceError.invalid("baseUrl", "must not carry credentials, a query or a fragment"))
  }
  if (!isConfidential(url)) {
    return Result.fail(ServiceError.invalid("baseUrl", "plain http goes to this machine only", "use https, or 127.0.0.1"))
  }
  return Result.succeed({
    baseUrl: withoutSlash(url),
    host: url.host,
    google: url.protocol === "https:" && /(?:^|\.)googleapis\.com$/.test(url.hostname)
  })
}
