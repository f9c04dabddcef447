/**
 * Time of every reply reader on hostile text, at 1 MB and at 2 MB: a linear reader doubles. Reads the built packages
 * (`pnpm build` first). `node scripts/bench/readers.mjs [reader]` runs one reader only.
 *
 * To add a reader, add a line to `readers`; to add a shape, a line to `shapes`.
 */
const dist = (path) => import(new URL(`../../packages/${path}`, import.meta.url).href)

const ReplyText = await dist("core/dist/reply/ReplyText.js")
const JsonReply = await dist("core/dist/reply/JsonReply.js")
const NumberedList = await dist("core/dist/reply/NumberedList.js")
const Verdict = await dist("core/dist/reply/Verdict.js")
const planAndExecute = await dist("patterns/dist/internal/planAndExecute/parse.js")
const adapt = await dist("patterns/dist/internal/adapt/parse.js")
const router = await dist("patterns/dist/internal/router/parse.js")

const readers = {
  visible: ReplyText.visible,
  unfence: ReplyText.unfence,
  cut: (text) => ReplyText.cut(text, 10_000),
  fence: (text) => ReplyText.fence("text", text),
  JsonReply: (text) => JsonReply.read(text, { keys: ["final_answer", "remaining_steps"], expected: "JSON" }),
  NumberedList: NumberedList.read,
  Verdict: Verdict.read,
  readDecision: (text) => planAndExecute.readDecision(text, 0),
  readDecomposition: (text) => adapt.readDecomposition(text, 0),
  readRoute: (text) => router.readRoute(text, ["ReAct", "Rewoo"])
}

/** Repeats `unit` to about `size` characters, between `before` and `after`. */
const repeated =
  (unit, before = "", after = "") =>
  (size) =>
    before + unit.repeat(Math.floor((size - before.length - after.length) / unit.length)) + after

const shapes = {
  "open braces": repeated("{"),
  "open brackets": repeated("["),
  "open arrays of objects": repeated("[{"),
  "open parentheses": repeated("("),
  "deep JSON": repeated('{"a":'),
  "deep JSON, balanced": (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
  "deep answer": repeated("[", '{"final_answer":'),
  "closing brackets of one kind": repeated("]", '{"a":'.repeat(150)),
  quotes: repeated('"'),
  "quotes in an answer": repeated('"', '{"final_answer":"', '"}'),
  "nested quotes": repeated("\"'", '{"final_answer":"', '"}'),
  "quotes with spaces": repeated('" ', '{"final_answer":"', '"}'),
  "single-quoted steps": repeated("'a',", '{"remaining_steps":[', "]}"),
  "many objects": repeated('{"final_answer":"x"}\n'),
  "many broken objects": repeated('{"final_answer":x}\n'),
  "many steps": repeated('"a",', '{"remaining_steps":[', '"a"]}'),
  "many keys": repeated('"final_answer":1,', "{", '"final_answer":1}'),
  "open comments": repeated("/*", '{"final_answer":'),
  backslashes: repeated("\\"),
  "backslashes in an answer": repeated("\\", '{"final_answer":"', '"}'),
  "a letter": repeated("a"),
  "spaces after Plan:": repeated(" ", "Plan:"),
  "spaces in an introduction": repeated(" ", "plan", "x:\n- a"),
  "words of an introduction": repeated("day ", "", "x:\n1. a\n\nday:\n1. b"),
  "spaces in a label": repeated(" ", "1", ". a"),
  "spaces in an item": repeated(" ", "1. a", "b"),
  "blank lines": repeated("\n"),
  "numbers without end": repeated("1", "1. "),
  "ten thousand items": (size) => `1. ${"a".repeat(Math.max(1, Math.floor(size / 10_000) - 5))}\n`.repeat(10_000),
  "short items": repeated("1. a\n"),
  "empty items": repeated("1.\n"),
  "repeated labels on a line": repeated("1. "),
  "repeated Step on a line": repeated("Step 1: "),
  "repeated Plan: on a line": repeated("Plan: "),
  "paragraphs between items": repeated("1. a\n\nb\n\n"),
  "continuation lines": repeated("  b\n", "1. a\n"),
  "introductions between items": repeated("1. a\nb:\n"),
  "Chinese labels": repeated("一、"),
  "emphasis marks": repeated("*"),
  "emphasized labels": repeated("**1."),
  "quote marks": repeated("> "),
  bullets: repeated("- "),
  "heading marks": repeated("#"),
  fences: repeated("```\n"),
  "fences in items": repeated("1. a\n```\n"),
  verdicts: repeated("SUCCESS: <the result>\n"),
  "verdict words": repeated("SUCCESS"),
  "open verdicts": repeated("success:\n"),
  "both verdicts on a line": repeated("SUCCESS: FAILURE: \n"),
  "marks behind a verdict": repeated("*", "SUCCESS", "a"),
  "marks before a verdict": repeated("**", "", " SUCCESS: a"),
  "<think> without end": repeated("<think>"),
  "</think> alone": repeated("</think>"),
  "<think> unfinished": repeated("<think"),
  "angle brackets": repeated("<"),
  "zero-width spaces": repeated("\u200b"),
  "lone surrogates": repeated("\ud800")
}

const milliseconds = (reader, text) => {
  const start = performance.now()
  reader(text)
  return performance.now() - start
}

const only = process.argv[2]
const rows = []
for (const [name, reader] of Object.entries(readers)) {
  if (only !== undefined && only !== name) continue
  for (const shape of Object.values(shapes)) reader(shape(10_000))
  for (const [kind, shape] of Object.entries(shapes)) {
    const [once, twice] = [1_000_000, 2_000_000].map((size) => {
      const text = shape(size)
      return Math.min(milliseconds(reader, text), milliseconds(reader, text))
    })
    rows.push({ reader: name, shape: kind, "1 MB, ms": once, "2 MB, ms": twice, ratio: twice / once })
  }
}
rows.sort((a, b) => b["2 MB, ms"] - a["2 MB, ms"])
const shown = rows.map((row) => ({
  ...row,
  "1 MB, ms": row["1 MB, ms"].toFixed(1),
  "2 MB, ms": row["2 MB, ms"].toFixed(1),
  ratio: row["2 MB, ms"] < 5 ? "" : row.ratio.toFixed(1)
}))
console.table(only === undefined ? shown.slice(0, 20) : shown)
const worst = rows[0]
console.log(`Slowest of ${rows.length}: ${worst.reader} on ${worst.shape}, ${worst["2 MB, ms"].toFixed(0)} ms for 2 MB`)
