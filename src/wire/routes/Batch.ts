import { BatchPredictionJob, ListBatchPredictionJobsRequest, ListBatchPredictionJobsResponse } from "../messages/BatchPrediction.ts"
import { DeleteOperationMetadata, Operation } from "../messages/Operations.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, route } from "../Route.ts"

const jobs = "JobService."
const job = "projects/*/locations/*/batchPredictionJobs/*"

/** Routes of batch prediction jobs. */
export const batchRoutes = {
  createBatchPredictionJob: route(`${jobs}CreateBatchPredictionJob`, "POST", `{parent=${location}}/batchPredictionJobs`, {
    body: BatchPredictionJob,
    bodyField: "batch_prediction_job",
    response: BatchPredictionJob
  }),
  listBatchPredictionJobs: route(`${jobs}ListBatchPredictionJobs`, "GET", `{parent=${location}}/batchPredictionJobs`, {
    query: ListBatchPredictionJobsRequest,
    response: ListBatchPredictionJobsResponse
  }),
  getBatchPredictionJob: route(`${jobs}GetBatchPredictionJob`, "GET", `{name=${job}}`, { response: BatchPredictionJob }),
  cancelBatchPredictionJob: route(`${jobs}CancelBatchPredictionJob`, "POST", `{name=${job}}:cancel`, { body: Empty, response: Empty }),
  deleteBatchPredictionJob: route(`${jobs}DeleteBatchPredictionJob`, "DELETE", `{name=${job}}`, {
    response: Operation,
    operation: { kind: "deleteBatchJob", metadata: DeleteOperationMetadata, response: Empty }
  })
}
