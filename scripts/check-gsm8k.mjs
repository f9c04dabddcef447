/**
 * Reads the recorded GSM8K model solutions with `AnswerFormat.number` and compares with the recorded correctness.
 *
 *     node scripts/check-gsm8k.mjs [data folder]
 *
 * The data folder is the one that holds `gsm8k/`; default: `../shared/data` beside the project. Needs a build. Exits 0
 * with a message where the data is absent, 1 where a reading differs from the record.
 */
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const data = resolve(process.argv[2] ?? fileURLToPath(new URL("../../shared/data", import.meta.url)))
const file = join(data, "gsm8k/grade_school_math/data/example_model_solutions.jsonl")
if (!existsSync(file)) {
  console.log(`No data at ${file}: nothing was checked.`)
  process.exit(0)
}
const AnswerFormat = await import(new URL("../packages/core/dist/reply/AnswerFormat.js", import.meta.url))

const valueOf = (text) => {
  const read = AnswerFormat.number.read(text)
  return read._tag === "Right" ? read.right.value : undefined
}

let solutions = 0
let uncut = 0
let agree = 0
const problems = new Map()
const differing = []
for (const line of readFileSync(file, "utf8").split("\n")) {
  if (line.trim() === "") continue
  const { ground_truth: truth, question: _question, ...models } = JSON.parse(line)
  const expected = valueOf(truth)
  for (const [model, { is_correct: recorded, solution }] of Object.entries(models)) {
    solutions += 1
    // A solution that has no `A:` line was cut off before its answer.
    if (!/^A:/m.test(solution)) continue
    uncut += 1
    const read = AnswerFormat.number.read(solution)
    if (read._tag === "Left") problems.set(read.left.problem, (problems.get(read.left.problem) ?? 0) + 1)
    const isCorrect = read._tag === "Right" && read.right.value === expected
    if (isCorrect === recorded) agree += 1
    else differing.push({ model, recorded, truth: truth.slice(-40), solution: solution.slice(-80) })
  }
}
console.log(
  `${solutions} solutions, ${uncut} with an answer line: ${agree} agree with the record, ${uncut - agree} differ.`
)
for (const [problem, count] of problems) console.log(`  not read as a number: ${count} × ${problem}`)
for (const { model, recorded, solution, truth } of differing.slice(0, 20)) {
  console.log(`  ${model}, recorded ${recorded}: ${JSON.stringify(solution)} against ${JSON.stringify(truth)}`)
}
process.exit(differing.length === 0 ? 0 : 1)
