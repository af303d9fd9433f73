import protobuf from "protobufjs/light.js"
import descriptorProto from "protobufjs/google/protobuf/descriptor.json" with { type: "json" }
import { snake } from "../tolerant/Normalize.ts"

/** Description of a `.proto` file for clients without the protos. */
export interface DescribedFile {
  readonly name: string
  /** The encoded `google.protobuf.FileDescriptorProto`. */
  readonly bytes: Uint8Array
  /** Names of the files that it imports. */
  readonly imports: ReadonlyArray<string>
}

/** Descriptions of everything that a server's protos define. */
export interface Described {
  /** Full names of the services. */
  readonly services: ReadonlyArray<string>
  /** Files by their name. */
  readonly files: ReadonlyMap<string, DescribedFile>
  /** The file of each message, field, enum, service and method, by its full name. */
  readonly fileOf: ReadonlyMap<string, DescribedFile>
  /** Full names of the messages. */
  readonly messages: ReadonlySet<string>
}

/** Values of `FieldDescriptorProto.Type`, and the message of a file. Source: google/protobuf/descriptor.proto. */
const descriptors = protobuf.Root.fromJSON(descriptorProto as protobuf.INamespace) // it is JSON of this type
const fileType = descriptors.lookupType("google.protobuf.FileDescriptorProto")
const types = descriptors.lookupEnum("google.protobuf.FieldDescriptorProto.Type").values

const labels = { optional: 1, repeated: 3 }

/** Files of the well-known types, by type. Clients have these files already, and accept no others for these types. */
const wellKnown: Readonly<Record<string, string>> = {
  Any: "any",
  Duration: "duration",
  Empty: "empty",
  FieldMask: "field_mask",
  ListValue: "struct",
  NullValue: "struct",
  Struct: "struct",
  Timestamp: "timestamp",
  Value: "struct"
}

/** Name of the file of a package. Each package is described as one file, since its original files do not matter. */
const fileNameOf = (object: protobuf.ReflectionObject): string => {
  const space = object.parent?.fullName.slice(1) ?? ""
  if (space !== "google.protobuf") return `${space.replaceAll(".", "/")}.proto`
  return `google/protobuf/${wellKnown[object.name] ?? "wrappers"}.proto`
}

/** The top-level message, enum or service that contains an object. */
const outermost = (object: protobuf.ReflectionObject): protobuf.ReflectionObject => {
  const { parent } = object
  return parent instanceof protobuf.Type ? outermost(parent) : object
}

/** Describes the protos of some roots in terms of `google.protobuf`: as proto3, without options and comments. */
export const describe = (roots: ReadonlyArray<protobuf.Root>): Described => {
  const drafts = new Map<string, Draft>()
  const visit = (space: protobuf.NamespaceBase): void => {
    for (const object of space.nestedArray) {
      if (object instanceof protobuf.Type || object instanceof protobuf.Enum || object instanceof protobuf.Service) {
        const name = fileNameOf(object)
        const draft = drafts.get(name) ?? new Draft(name, space.fullName.slice(1))
        drafts.set(name, draft)
        draft.add(object)
      } else if (object instanceof protobuf.Namespace) visit(object)
    }
  }
  for (const root of roots) visit(root.resolveAll())
  const files = new Map<string, DescribedFile>()
  const fileOf = new Map<string, DescribedFile>()
  for (const draft of drafts.values()) {
    const file = draft.file()
    files.set(file.name, file)
    for (const symbol of draft.symbols) fileOf.set(symbol, file)
  }
  const named = (of: "services" | "messages") => [...drafts.values()].flatMap((draft) => draft[of])
  return { services: named("services").toSorted(), messages: new Set(named("messages")), files, fileOf }
}

/** A file while it is being assembled. */
class Draft {
  readonly symbols: Array<string> = []
  readonly services: Array<string> = []
  readonly messages: Array<string> = []
  readonly #name: string
  readonly #package: string
  readonly #imports = new Set<string>()
  readonly #message: Array<object> = []
  readonly #enum: Array<object> = []
  readonly #service: Array<object> = []

  constructor(name: string, space: string) {
    this.#name = name
    this.#package = space
  }

  add(object: protobuf.Type | protobuf.Enum | protobuf.Service): void {
    if (object instanceof protobuf.Type) this.#message.push(this.#typeOf(object))
    else if (object instanceof protobuf.Enum) this.#enum.push(this.#enumOf(object))
    else this.#service.push(this.#serviceOf(object))
  }

  file(): DescribedFile {
    const imports = [...this.#imports]
    const bytes = fileType.encode(fileType.fromObject({
      name: this.#name,
      package: this.#package,
      dependency: imports,
      messageType: this.#message,
      enumType: this.#enum,
      service: this.#service,
      syntax: "proto3"
    })).finish()
    return { name: this.#name, bytes, imports }
  }

  #typeOf(type: protobuf.Type): object {
    const name = type.fullName.slice(1)
    this.symbols.push(name)
    this.messages.push(name)
    // The synthetic one-ofs of optional fields have to come last.
    const oneofs = type.oneofsArray.toSorted((a, b) => Number(a.isProto3Optional) - Number(b.isProto3Optional))
    return {
      name: type.name,
      field: type.fieldsArray.map((field) => ({
        ...this.#fieldOf(field),
        ...(field.partOf === null ? {} : { oneofIndex: oneofs.indexOf(field.partOf), proto3Optional: field.partOf.isProto3Optional })
      })),
      nestedType: [
        ...type.nestedArray.flatMap((inner) => inner instanceof protobuf.Type ? [this.#typeOf(inner)] : []),
        ...type.fieldsArray.flatMap((field) => field instanceof protobuf.MapField ? [this.#entryOf(field)] : [])
      ],
      enumType: type.nestedArray.flatMap((inner) => inner instanceof protobuf.Enum ? [this.#enumOf(inner)] : []),
      oneofDecl: oneofs.map(({ name }) => ({ name: snake(name) }))
    }
  }

  #fieldOf(field: protobuf.Field): object {
    const name = snake(field.name)
    this.symbols.push(`${field.parent?.fullName.slice(1)}.${name}`)
    const about = { name, jsonName: field.name, number: field.id }
    return field instanceof protobuf.MapField
      ? {
        ...about,
        label: labels.repeated,
        type: types["TYPE_MESSAGE"],
        typeName: `${field.parent?.fullName}.${entryName(field)}`
      }
      : { ...about, label: field.repeated ? labels.repeated : labels.optional, ...this.#kindOf(field.type, field.resolvedType) }
  }

  /** The message that encodes the entries of a map. */
  #entryOf(field: protobuf.MapField): object {
    return {
      name: entryName(field),
      field: [
        { name: "key", jsonName: "key", number: 1, label: labels.optional, ...this.#kindOf(field.keyType, null) },
        { name: "value", jsonName: "value", number: 2, label: labels.optional, ...this.#kindOf(field.type, field.resolvedType) }
      ],
      options: { mapEntry: true }
    }
  }

  #kindOf(scalar: string, resolved: protobuf.Type | protobuf.Enum | null): object {
    if (resolved === null) return { type: types[`TYPE_${scalar.toUpperCase()}`] }
    return { type: types[resolved instanceof protobuf.Enum ? "TYPE_ENUM" : "TYPE_MESSAGE"], typeName: this.#reference(resolved) }
  }

  /** The full name of a type. Its file becomes an import. */
  #reference(type: protobuf.ReflectionObject): string {
    const file = fileNameOf(outermost(type))
    if (file !== this.#name) this.#imports.add(file)
    return type.fullName
  }

  #enumOf(of: protobuf.Enum): object {
    this.symbols.push(of.fullName.slice(1))
    const values = Object.entries(of.values).map(([name, number]) => ({ name, number }))
    return {
      name: of.name,
      // The first value of a proto3 enum has to be 0.
      value: values.toSorted((a, b) => Number(a.number !== 0) - Number(b.number !== 0)),
      ...(new Set(values.map(({ number }) => number)).size < values.length ? { options: { allowAlias: true } } : {})
    }
  }

  #serviceOf(service: protobuf.Service): object {
    const name = service.fullName.slice(1)
    this.services.push(name)
    this.symbols.push(name)
    return {
      name: service.name,
      method: service.methodsArray.map((method) => {
        this.symbols.push(`${name}.${method.name}`)
        return {
          name: method.name,
          inputType: this.#reference(service.lookupType(method.requestType)),
          outputType: this.#reference(service.lookupType(method.responseType)),
          clientStreaming: method.requestStream === true,
          serverStreaming: method.responseStream === true
        }
      })
    }
  }
}

/** Name of a map's entry message, as protoc makes it. */
const entryName = ({ name }: protobuf.MapField): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Entry`
