import { Effect } from "effect"
import { BatchJobName } from "../../domain/batch/BatchPrediction.ts"
import { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { OperationName } from "../../domain/Operation.ts"
import { DataSchemaName, FileMetadataName, fileOfMetadata } from "../../domain/FileMetadata.ts"
import type { RagFileName } from "../../domain/RagFile.ts"

/**
 * Resource names in the service's form. The database has their last segments only: project and location are how an engine is addressed, not
 * where its data is.
 */
export class Names {
  /** `projects/{project}/locations/{location}` */
  readonly parent: string

  constructor(project: string, location: string) {
    this.parent = `projects/${project}/locations/${location}`
  }

  corpus(id: string): CorpusName {
    return CorpusName.make(`${this.parent}/ragCorpora/${id}`)
  }

  file(corpus: string, id: string): RagFileName {
    // The name is never empty, and made for every file of a listing: checking it would take as long as reading the file's row.
    return `${this.parent}/ragCorpora/${corpus}/ragFiles/${id}` as RagFileName
  }

  schema(corpus: string, id: string): DataSchemaName {
    return DataSchemaName.make(`${this.parent}/ragCorpora/${corpus}/ragDataSchemas/${id}`)
  }

  metadata(file: RagFileName, id: string): FileMetadataName {
    return FileMetadataName.make(`${file}/ragMetadata/${id}`)
  }

  operation(id: string): OperationName {
    return OperationName.make(`${this.parent}/operations/${id}`)
  }

  batchJob(id: string): BatchJobName {
    return BatchJobName.make(`${this.parent}/batchPredictionJobs/${id}`)
  }

  /** The id in a batch job's name. */
  batchJobId(name: BatchJobName): Effect.Effect<string, ServiceError> {
    const form = `${this.parent}/batchPredictionJobs/{job}`
    return Effect.map(this.#match(name, /^\/batchPredictionJobs\/([^/]+)$/, "batch prediction job", form), ([id]) => id)
  }

  /** The id in a corpus's name. */
  corpusId(name: CorpusName): Effect.Effect<string, ServiceError> {
    return this.#match(name, /^\/ragCorpora\/([^/]+)$/, "corpus", `${this.parent}/ragCorpora/{corpus}`).pipe(
      Effect.map(([id]) => id)
    )
  }

  /** The ids in a file's name. */
  fileIds(name: RagFileName): Effect.Effect<{ readonly corpus: string; readonly file: string }, ServiceError> {
    const form = `${this.parent}/ragCorpora/{corpus}/ragFiles/{file}`
    return this.#match(name, /^\/ragCorpora\/([^/]+)\/ragFiles\/([^/]+)$/, "file", form).pipe(
      Effect.map(([corpus, file]) => ({ corpus, file }))
    )
  }

  /** The ids in a data schema's name. */
  schemaIds(name: DataSchemaName): Effect.Effect<{ readonly corpus: string; readonly schema: string }, ServiceError> {
    const form = `${this.parent}/ragCorpora/{corpus}/ragDataSchemas/{schema}`
    return this.#match(name, /^\/ragCorpora\/([^/]+)\/ragDataSchemas\/([^/]+)$/, "data schema", form).pipe(
      Effect.map(([corpus, schema]) => ({ corpus, schema }))
    )
  }

  /** The file of a piece of metadata, and the id in its name. */
  metadataIds(name: FileMetadataName): Effect.Effect<{ readonly file: RagFileName; readonly metadata: string }, ServiceError> {
    const form = `${this.parent}/ragCorpora/{corpus}/ragFiles/{file}/ragMetadata/{metadata}`
    return this.#match(name, /^\/ragCorpora\/[^/]+\/ragFiles\/[^/]+\/ragMetadata\/([^/]+)$/, "metadata", form).pipe(
      Effect.map(([metadata]) => ({ file: fileOfMetadata(name), metadata }))
    )
  }

  /** The id of an operation: the last segment of its name, whatever resource it belongs to. */
  operationId(name: OperationName): string {
    return name.slice(name.lastIndexOf("/") + 1)
  }

  #match(name: string, pattern: RegExp, what: string, form: string): Effect.Effect<[string, string], ServiceError> {
    const found = name.startsWith(this.parent) ? pattern.exec(name.slice(this.parent.length)) : null
    if (found !== null) return Effect.succeed([found[1] ?? "", found[2] ?? ""])
    return /^projects\/[^/]+\/locations\/[^/]+\//.test(name)
      ? Effect.fail(ServiceError.notFound(`${what} ${name}`, `this engine holds ${form}`))
      : Effect.fail(ServiceError.invalid("name", `a ${what}'s name has the form ${form}`))
  }
}
