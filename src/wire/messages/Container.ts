import { duration, int32, int64, list, message, of, oneof, string } from "../Message.ts"

// The container image that serves a model.

const EnvVar = message("EnvVar", { name: string, value: string })

const Port = message("Port", { containerPort: int32 })

const ExecAction = message("Probe.ExecAction", { command: list(string) })

const HttpHeader = message("Probe.HttpHeader", { name: string, value: string })

const HttpGetAction = message("Probe.HttpGetAction", {
  path: string,
  port: int32,
  host: string,
  scheme: string,
  httpHeaders: list(of(HttpHeader))
})

const GrpcAction = message("Probe.GrpcAction", { port: int32, service: string })

const TcpSocketAction = message("Probe.TcpSocketAction", { port: int32, host: string })

const Probe = message("Probe", {
  exec: oneof("probe_type", of(ExecAction)),
  httpGet: oneof("probe_type", of(HttpGetAction)),
  grpc: oneof("probe_type", of(GrpcAction)),
  tcpSocket: oneof("probe_type", of(TcpSocketAction)),
  periodSeconds: int32,
  timeoutSeconds: int32,
  failureThreshold: int32,
  successThreshold: int32,
  initialDelaySeconds: int32
})

export const ModelContainerSpec = message("ModelContainerSpec", {
  imageUri: string,
  command: list(string),
  args: list(string),
  env: list(of(EnvVar)),
  ports: list(of(Port)),
  predictRoute: string,
  healthRoute: string,
  invokeRoutePrefix: string,
  grpcPorts: list(of(Port)),
  deploymentTimeout: duration,
  sharedMemorySizeMb: int64,
  startupProbe: of(Probe),
  healthProbe: of(Probe),
  livenessProbe: of(Probe)
})
