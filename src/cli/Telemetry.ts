import { ConfigProvider, Console, Effect, Layer } from "effect"

/** OpenTelemetry's default exporter is otlp; Effect's is none. */
const environment = ConfigProvider.layer(
  ConfigProvider.fromEnv({ env: { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", ...process.env } })
)

/**
 * Exports traces and metrics over OTLP/HTTP when `OTEL_EXPORTER_OTLP_ENDPOINT` is set, by the standard `OTEL_*`
 * variables; otherwise nothing is loaded. JSON, unless `OTEL_EXPORTER_OTLP_PROTOCOL` is `http/protobuf`. Data that cannot
 * be sent is dropped and never fails a command. Spans contain counts, ids and durations; never texts or secrets.
 */
export const telemetry = (version: string): Layer.Layer<never> =>
  Layer.unwrap(Effect.gen(function*() {
    // Not with `Config`, which builds a schema: every command runs this.
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = process.env
    if (endpoint === undefined) return Layer.empty
    const protobuf = protocol === "http/protobuf"
    const [{ OtlpMetrics, OtlpSerialization, OtlpTracer }, { FetchHttpClient }] = yield* Effect.promise(() =>
      Promise.all([import("effect/observability"), import("effect/http")])
    )
    const resource = { serviceName: "sluice", serviceVersion: version }
    return Layer.mergeAll(OtlpTracer.layerFromConfig({ resource }), OtlpMetrics.layerFromConfig({ resource })).pipe(
      Layer.provide([protobuf ? OtlpSerialization.layerProtobuf : OtlpSerialization.layerJson, FetchHttpClient.layer]),
      Layer.provide(environment),
      Layer.catchCause(() => Layer.effectDiscard(Console.error("warning: no telemetry: the OTEL_ settings cannot be used")))
    )
  }))
