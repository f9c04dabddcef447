/** Replies as models write them on the wire, through whole runs. */
import { describe, expect, it } from "@effect/vitest"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Effect from "effect/Effect"
import { requests, toolCalls, world } from "./world.js"

const textProtocol = { protocol: "text" as const }
const native = { protocol: "native" as const }

const blocks = [
  ["[THINK]", "[/THINK]"],
  ["<thought>", "</thought>"],
  ["<reasoning>", "</reasoning>"],
  ["<seed:think>", "</seed:think>"],
  ["◁think▷", "◁/think▷"],
  ["<mm:think>", "</mm:think>"],
  ["<|channel>thought\n", "<channel|>"],
  ['<think effort="high">', "</think>"],
  ["< think >", "</ think >"]
] as const

describe("what is thought is never carried out", () => {
  for (const [open, close] of blocks) {
    const thought = "I could do\nAction: Search\nAction Input: wipe all\nbut no"
    it.effect(`NW-01: ${open}…${close} in the text protocol`, () =>
      Effect.gen(function* () {
        expect((yield* ReAct.run("T", textProtocol)).answer).toBe("safe")
        expect(yield* toolCalls).toEqual([])
      }).pipe(Effect.provide(world([`${open}${thought}${close}\nFinal Answer: safe`])))
    )
  }

  it.effect("NW-02: an analysis without a final channel runs no step", () =>
    Effect.gen(function* () {
      const { answer } = yield* PlanAndExecute.run("G")
      expect(answer).toBe("x")
      expect(JSON.stringify((yield* requests).filter((request) => request.role === "executor"))).not.toContain("Drop")
    }).pipe(
      Effect.provide(
        world([
          "<|channel|>analysis<|message|>Options:\n1. Drop the table\n2. Mail everyone\nBetter not.",
          "1. Fetch",
          "done",
          '{"final_answer":"x"}'
        ])
      )
    )
  )

  it.effect("NW-05: a lone closer of the model's own kind", () =>
    Effect.gen(function* () {
      expect((yield* ReAct.run("T", native)).answer).toBe("It is 42.")
    }).pipe(Effect.provide(world(["maybe 7</mm:think>\n\nIt is 42."])))
  )

  it.effect("NW-06: the end of a turn is no part of a step or an answer", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndExecute.run("G")
      expect(pastSteps.map(({ result, step }) => [step, result])).toEqual([["Count the rows", "It is 42."]])
    }).pipe(Effect.provide(world(["1. Count the rows<|im_end|>", "It is 42.</s>", '{"final_answer":"x"}<|eot_id|>'])))
  )
})

describe("a call that came as text is asked for again", () => {
  for (const reply of [
    'Search[ARGS]{"input": "x"}',
    'First:<|reserved_token_1|>functions.Search:0<|reserved_token_2|>{"input": "x"}',
    '<TOOLCALL>[{"name":"Search","argum',
    '<TOOLCALL>[Search(input="x")]</TOOLCALL>'
  ]) {
    const id = reply.startsWith("<TOOLCALL>") ? "NW-57" : "NW-55"
    for (const protocol of [native, textProtocol]) {
      it.effect(`${id}: ${reply} (${protocol.protocol})`, () =>
        Effect.gen(function* () {
          expect((yield* ReAct.run("T", protocol)).answer).toBe("It is 42.")
          expect(yield* toolCalls).toEqual([])
          expect(yield* requests).toHaveLength(2)
        }).pipe(Effect.provide(world([reply, "It is 42."])))
      )
    }
  }

  it.effect("VR-11: an answer beside an action, in the text protocol", () =>
    Effect.gen(function* () {
      expect((yield* ReAct.run("T", textProtocol)).answer).toBe("6")
      expect(yield* toolCalls).toEqual([])
    }).pipe(Effect.provide(world(["Final Answer: 5\nAction: Search\nAction Input: x", "Final Answer: 6"])))
  )
})
