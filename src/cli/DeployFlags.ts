import { Config, Effect, FileSystem, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { isEmpty } from "../domain/Defined.ts"
import { acceleratorTypes, type Container, type Reservation, reservationKey, type Resources } from "../domain/models/Machine.ts"
import { given } from "./Root.ts"
import { unreadable, UsageError } from "./UsageError.ts"

const text = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.optional)

const number = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.withMetavar("N"), Flag.optional)

const on = (name: string, description: string) => Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Flags for the machines of a deployment. */
export const resourceFlags = {
  machineType: text(
    "machine-type",
    "Machine of each replica, for example g2-standard-12. Default: what the model's owner recommends",
    "TYPE"
  ),
  acceleratorType: Flag.Literals("accelerator-type", acceleratorTypes).pipe(
    Flag.withDescription("Accelerator of each replica, for example NVIDIA_L4"),
    Flag.withMetavar("TYPE"),
    Flag.optional
  ),
  acceleratorCount: number("accelerator-count", "How many of them. Default 1"),
  minReplicas: number("min-replicas", "Replicas that always run. Default 1"),
  maxReplicas: number("max-replicas", "Replicas at most. Default: --min-replicas"),
  reservation: text(
    "reservation",
    "any: use a matching reservation, else the general pool; none: use the general pool; or the NAME of a reservation, which fails when that is full",
    "any|none|NAME"
  ),
  spot: on("spot", "Spot machines: cheaper, and taken away when others need them. Not together with --reservation")
}

type Given<Flags> = { readonly [K in keyof Flags]: Flags[K] extends Flag.Flag<infer A> ? A : never }

/** The requested machines; undefined where none of the flags was given, so that the model's default applies. */
export const resourcesOf = (args: Given<typeof resourceFlags>): Effect.Effect<Resources | undefined, UsageError> => {
  const [machineType, acceleratorType, minReplicaCount, maxReplicaCount, reservation] = [
    given(args.machineType),
    given(args.acceleratorType),
    given(args.minReplicas),
    given(args.maxReplicas),
    given(args.reservation)
  ]
  const acceleratorCount = given(args.acceleratorCount) ?? (acceleratorType === undefined ? undefined : 1)
  const anything = [machineType, acceleratorCount, minReplicaCount, maxReplicaCount, reservation].some((value) => value !== undefined) ||
    args.spot
  if (!anything) return Effect.undefined
  if (machineType === undefined) {
    return Effect.fail(
      new UsageError({
        message: "a custom deployment configuration needs --machine-type",
        fix: "give it, or leave the other flags of the machine out; `sluice models show` shows the recommended machine"
      })
    )
  }
  return Effect.succeed({
    machine: {
      machineType,
      acceleratorType,
      acceleratorCount,
      reservation: reservation === undefined ? undefined : reservationOf(reservation)
    },
    minReplicaCount,
    maxReplicaCount,
    spot: args.spot ? true : undefined
  })
}

const reservationOf = (written: string): Reservation =>
  written === "any"
    ? { affinity: "ANY_RESERVATION" }
    : written === "none"
    ? { affinity: "NO_RESERVATION" }
    : { affinity: "SPECIFIC_RESERVATION", key: reservationKey, values: [written] }

/** Flags for the image that serves a model. */
export const containerFlags = {
  image: text("image", "Serve the model from this container image", "URI"),
  imageArg: Flag.String("image-arg").pipe(
    Flag.withDescription("An argument of the image, in order. May be repeated"),
    Flag.withMetavar("ARG"),
    Flag.atLeast(0),
    Flag.withDefault([])
  ),
  imageEnv: Flag.KeyValuePair("image-env").pipe(
    Flag.withDescription("A variable of its environment"),
    Flag.withMetavar("NAME=VALUE"),
    Flag.withDefault({})
  ),
  imagePort: Flag.Int("image-port").pipe(
    Flag.withDescription("A port it listens on. May be repeated"),
    Flag.withMetavar("PORT"),
    Flag.atLeast(0),
    Flag.withDefault([])
  ),
  predictRoute: text("predict-route", "Where on it predictions are, for example /generate", "PATH"),
  healthRoute: text("health-route", "Where on it its health is", "PATH")
}

export const containerOf = (args: Given<typeof containerFlags>): Effect.Effect<Container | undefined, UsageError> => {
  const [imageUri, predictRoute, healthRoute] = [given(args.image), given(args.predictRoute), given(args.healthRoute)]
  const env = Object.entries(args.imageEnv).map(([name, value]) => ({ name, value }))
  const rest = {
    args: args.imageArg.length === 0 ? undefined : args.imageArg,
    env: env.length === 0 ? undefined : env,
    ports: args.imagePort.length === 0 ? undefined : args.imagePort,
    predictRoute,
    healthRoute
  }
  if (imageUri !== undefined) return Effect.succeed({ imageUri, ...rest })
  return isEmpty(rest)
    ? Effect.undefined
    : Effect.fail(new UsageError({ message: "arguments, ports and routes need an image", fix: "name it with --image" }))
}

export const hubTokenFlag = text(
  "hub-token-file",
  "A file with the hub's access token, for gated models; SLUICE_HUB_TOKEN does the same",
  "FILE"
)

/** Reads the hub's token. It is never an argument, where other users of the machine could read it. */
export const hubTokenOf = Effect.fnUntraced(function*(file: Option.Option<string>) {
  if (Option.isSome(file)) {
    const fs = yield* FileSystem.FileSystem
    const token = yield* fs.readFileString(file.value).pipe(
      Effect.catch(() => unreadable("--hub-token-file", file.value))
    )
    return Redacted.make(token.trim(), { label: "hub access token" })
  }
  const token = yield* Config.option(Config.Redacted("SLUICE_HUB_TOKEN")).pipe(
    Effect.orElseSucceed(() => Option.none<Redacted.Redacted<string>>())
  )
  return given(Option.filter(token, (value) => Redacted.value(value) !== ""))
})
