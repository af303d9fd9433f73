import * as fc from "fast-check"

/**
 * Random cases are the same in every run, so that a test that passes once passes always. `SLUICE_SEEDS=full`, which looks for
 * new failures, chooses other cases each time. A property that fails reports its seed.
 */
if (process.env["SLUICE_SEEDS"] !== "full") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_101 })
