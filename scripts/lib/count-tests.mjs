// Prints `N passed, N failed` from vitest's JSON report, and exits with 1 where anything failed.
// Arguments: the report, how many checks before the tests failed, and vitest's exit code.
import { readFileSync } from "node:fs"

const [file = "", checks = "0", exit = "0"] = process.argv.slice(2)

const read = () => {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch {
    // Vitest ended before it could write its report.
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
}

const report = read()
const unloaded = report.testResults.filter((suite) => suite.status === "failed" && suite.assertionResults.length === 0)
for (const suite of unloaded) console.error(`Could not be loaded: ${suite.name}\n${suite.message ?? ""}`)
const skipped = (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0)
if (skipped > 0) console.log(`${skipped} skipped`)

let failed = report.numFailedTests + unloaded.length + Number(checks)
// An error outside of any test, or no test at all, must not count as a success.
if (failed === 0 && (exit !== "0" || report.numPassedTests === 0)) failed = 1
console.log(`${report.numPassedTests} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
