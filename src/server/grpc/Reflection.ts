import { Effect, Stream } from "effect"
import protobuf from "protobufjs/light.js"
import { grpcStatusOf } from "../../domain/Codes.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type Described, type DescribedFile, describe } from "../../wire/grpc/Descriptors.ts"
import type { OwnMethods } from "./Own.ts"

/** Versions of the protocol, with equal messages. Older tools use the first. */
const versions = ["v1alpha", "v1"]

/** Source: grpc/reflection/v1/reflection.proto. */
const protos = {
  nested: {
    ServerReflection: {
      methods: {
        ServerReflectionInfo: {
          requestType: "ServerReflectionRequest",
          requestStream: true,
          responseType: "ServerReflectionResponse",
          responseStream: true
        }
      }
    },
    ServerReflectionRequest: {
      oneofs: {
        messageRequest: {
          oneof: ["fileByFilename", "fileContainingSymbol", "fileContainingExtension", "allExtensionNumbersOfType", "listServices"]
        }
      },
      fields: {
        host: { type: "string", id: 1 },
        fileByFilename: { type: "string", id: 3 },
        fileContainingSymbol: { type: "string", id: 4 },
        fileContainingExtension: { type: "ExtensionRequest", id: 5 },
        allExtensionNumbersOfType: { type: "string", id: 6 },
        listServices: { type: "string", id: 7 }
      }
    },
    ExtensionRequest: { fields: { containingType: { type: "string", id: 1 }, extensionNumber: { type: "int32", id: 2 } } },
    ServerReflectionResponse: {
      oneofs: {
        messageResponse: {
          oneof: ["fileDescriptorResponse", "allExtensionNumbersResponse", "listServicesResponse", "errorResponse"]
        }
      },
      fields: {
        validHost: { type: "string", id: 1 },
        originalRequest: { type: "ServerReflectionRequest", id: 2 },
        fileDescriptorResponse: { type: "FileDescriptorResponse", id: 4 },
        allExtensionNumbersResponse: { type: "ExtensionNumberResponse", id: 5 },
        listServicesResponse: { type: "ListServiceResponse", id: 6 },
        errorResponse: { type: "ErrorResponse", id: 7 }
      }
    },
    FileDescriptorResponse: { fields: { fileDescriptorProto: { rule: "repeated", type: "bytes", id: 1 } } },
    ExtensionNumberResponse: {
      fields: { baseTypeName: { type: "string", id: 1 }, extensionNumber: { rule: "repeated", type: "int32", id: 2 } }
    },
    ListServiceResponse: { fields: { service: { rule: "repeated", type: "ServiceResponse", id: 1 } } },
    ServiceResponse: { fields: { name: { type: "string", id: 1 } } },
    ErrorResponse: { fields: { errorCode: { type: "int32", id: 1 }, errorMessage: { type: "string", id: 2 } } }
  }
} as protobuf.INamespace // whose methods need no comment

const reflectionProtos = protobuf.Root.fromJSON({
  nested: { grpc: { nested: { reflection: { nested: Object.fromEntries(versions.map((version) => [version, protos])) } } } }
})

/** A request. The field that is set says what it is about. */
interface Question {
  readonly fileByFilename?: string
  readonly fileContainingSymbol?: string
  readonly fileContainingExtension?: { readonly containingType: string; readonly extensionNumber: number }
  readonly allExtensionNumbersOfType?: string
  readonly listServices?: string
}

/**
 * `grpc.reflection`, which describes the services to clients without the protos. The descriptors are made at the first
 * request, from `roots`, the same protos that the routes use.
 */
export const reflectionMethods = (roots: ReadonlyArray<protobuf.Root>): OwnMethods => {
  let made: Described | undefined
  const described = (): Described => made ??= describe([...roots, reflectionProtos])
  return new Map(versions.map((version) => {
    const space = `grpc.reflection.${version}`
    const request = reflectionProtos.lookupType(`${space}.ServerReflectionRequest`)
    const response = reflectionProtos.lookupType(`${space}.ServerReflectionResponse`)
    const begin = () => {
      const sent = new Set<string>()
      return (message: Uint8Array) =>
        Stream.fromEffect(Effect.map(
          Effect.try({
            try: () => request.decode(message),
            catch: () => new ServiceError({ code: "INVALID_ARGUMENT", message: "the message is not a ServerReflectionRequest" })
          }),
          (asked) => {
            const answer = answerTo(request.toObject(asked), described(), sent)
            return response.encode(response.fromObject({ validHost: asked.toJSON()["host"], originalRequest: asked, ...answer })).finish()
          }
        ))
    }
    return [`/${space}.ServerReflection/ServerReflectionInfo`, { open: false, stream: true, begin }]
  }))
}

/** @param sent names of files that were sent on this stream: they are not sent again as imports of others */
const answerTo = (
  { allExtensionNumbersOfType, fileByFilename, fileContainingExtension, fileContainingSymbol, listServices }: Question,
  { fileOf, files, messages, services }: Described,
  sent: Set<string>
): object => {
  if (listServices !== undefined) return { listServicesResponse: { service: services.map((name) => ({ name })) } }
  if (fileByFilename !== undefined) return answerFile(files.get(fileByFilename), fileByFilename, files, sent)
  if (fileContainingSymbol !== undefined) {
    return answerFile(fileOf.get(fileContainingSymbol.replace(/^\./, "")), fileContainingSymbol, files, sent)
  }
  if (allExtensionNumbersOfType !== undefined) {
    return messages.has(allExtensionNumbersOfType)
      ? { allExtensionNumbersResponse: { baseTypeName: allExtensionNumbersOfType } }
      : unknown(allExtensionNumbersOfType)
  }
  if (fileContainingExtension !== undefined) {
    const { containingType, extensionNumber } = fileContainingExtension
    return unknown(`extension ${extensionNumber} of ${containingType}`)
  }
  return failed(new ServiceError({ code: "INVALID_ARGUMENT", message: "message_request: is missing" }))
}

/** The requested file, and those that it imports. */
const answerFile = (
  file: DescribedFile | undefined,
  asked: string,
  files: ReadonlyMap<string, DescribedFile>,
  sent: Set<string>
): object => {
  if (file === undefined) return unknown(asked)
  const told = [file]
  sent.add(file.name)
  for (const { imports } of told) {
    for (const name of imports) {
      const imported = files.get(name)
      if (imported === undefined || sent.has(name)) continue
      sent.add(name)
      told.push(imported)
    }
  }
  return { fileDescriptorResponse: { fileDescriptorProto: told.map(({ bytes }) => bytes) } }
}

const unknown = (what: string): object => failed(ServiceError.notFound(what.slice(0, 200)))

const failed = ({ code, message }: ServiceError): object => ({
  errorResponse: { errorCode: grpcStatusOf(code), errorMessage: message }
})
