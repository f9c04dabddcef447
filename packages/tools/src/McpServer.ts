/**
 * Our patterns as the tools of an MCP server. Needs the package `@modelcontextprotocol/sdk`.
 */
import type { Readable, Writable } from "node:stream"
import * as ToolText from "@forethought/core/ToolText"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Something that the server offers, such as a pattern. */
export interface Offer<R = never> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  /** Says what it does and when to use it. The client's model chooses by this. */
  readonly description: string
  /** Set to true if a run changes nothing outside. The client is told so as a hint. Default: not told. */
  readonly readOnly?: boolean
  /** The options that a call can give beside its input, each as JSON Schema. Default: none. */
  readonly options?: { readonly [name: string]: object }
  /** Does it; a failure's message becomes the text of an error result. Options are as the client sent them. */
  readonly run: (
    input: string,
    options: { readonly [name: string]: unknown }
  ) => Effect.Effect<string, { readonly message: string }, R>
}

export interface ServeOptions {
  /** The server's name, as clients show it. Default: `forethought`. */
  readonly name?: string
  /** Default: `0.1.0`. */
  readonly version?: string
}

export interface StdioOptions extends ServeOptions {
  /** Default: the standard input of this process. */
  readonly stdin?: Readable
  /** Default: the standard output of this process. */
  readonly stdout?: Writable
}

// ---------------------------------------------------------------------------------------------------------------
// serving
// ---------------------------------------------------------------------------------------------------------------

/**
 * Serves over standard input and output until the input ends.
 *
 * Each offer is a tool that takes the string `input`, and `options` if it has any. Calls run at the same time; one
 * that the client cancels, and all that still run when the input ends, are interrupted. A client that asks for progress
 * gets a sign of life every ten seconds. Standard output belongs to the protocol: nothing else in the process may write
 * there.
 */
export const stdio = <R = never>(
  offers: ReadonlyArray<Offer<R>>,
  options: StdioOptions = {}
): Effect.Effect<void, never, R> =>
  Effect.suspend(() => {
    const stdin = options.stdin ?? process.stdin
    const stdout = options.stdout ?? process.stdout
    const transport = new StdioServerTransport(stdin, stdout)
    // The SDK does not end with its input, nor with a client that no longer reads.
    const ends = Effect.async<void>((resume) => {
      const end = () => resume(Effect.void)
      stdin.once("end", end).once("close", end)
      stdout.once("error", end)
      return Effect.sync(() => {
        stdin.off("end", end).off("close", end)
        stdout.off("error", end)
      })
    })
    return Effect.raceFirst(serve(offers, transport, options), ends)
  })

/** Serves over a transport of the SDK until it is closed, as {@link stdio} does. */
export const serve = <R = never>(
  offers: ReadonlyArray<Offer<R>>,
  transport: Transport,
  options: ServeOptions = {}
): Effect.Effect<void, never, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime<R>()
      const closed = yield* Deferred.make<void>()
      const server = new Server(
        { name: options.name ?? "forethought", version: options.version ?? "0.1.0" },
        { capabilities: { tools: {} } }
      )
      server.onclose = () => Deferred.unsafeDone(closed, Exit.void)
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offers.map(described) }))
      server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification, signal }) => {
        const offer = offers.find(({ name }) => name === params.name)
        if (offer === undefined) return errorResult(`There is no tool ${JSON.stringify(params.name)}.`)
        const input = params.arguments?.["input"]
        if (typeof input !== "string") return errorResult('The arguments must be {"input": "<text>"}.')
        const token = _meta?.progressToken
        const options = params.arguments?.["options"] ?? {}
        if (typeof options !== "object" || Array.isArray(options))
          return errorResult("`options` must be a JSON object.")
        const run = Effect.suspend(() => offer.run(input, { ...options }))
        const watched =
          token === undefined
            ? run
            : Effect.raceFirst(
                run,
                signsOfLife((progress) =>
                  sendNotification({ method: "notifications/progress", params: { progressToken: token, progress } })
                )
              )
        return result(await Runtime.runPromiseExit(runtime)(watched, { signal }))
      })
      // Closing aborts the signal of each call that still runs.
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(() => server.close())))
      yield* Effect.promise(() => server.connect(transport))
      yield* Deferred.await(closed)
    })
  )

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const described = <R>({ description, name, options, readOnly }: Offer<R>) => ({
  name,
  description,
  inputSchema: {
    type: "object" as const,
    properties: {
      input: { type: "string", description: "The question, goal or task, in full." },
      ...(options === undefined
        ? {}
        : { options: { type: "object", properties: options, additionalProperties: false } })
    },
    required: ["input"]
  },
  ...(readOnly === undefined ? {} : { annotations: { readOnlyHint: readOnly } })
})

const result = (exit: Exit.Exit<string, { readonly message: string }>): CallToolResult => {
  if (Exit.isSuccess(exit)) return { content: [{ type: "text", text: exit.value.toWellFormed() }] }
  if (Cause.isInterruptedOnly(exit.cause)) return errorResult("The run was interrupted.")
  const error = Cause.squash(exit.cause)
  const told = typeof error === "object" && error !== null && "message" in error ? error.message : error
  return errorResult(ToolText.describeFailure(told))
}

const errorResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true })

/** Never ends: clients give up on a call of which they hear nothing for long. */
const signsOfLife = (send: (progress: number) => Promise<void>): Effect.Effect<never> => {
  const next = (progress: number): Effect.Effect<never> =>
    Effect.sleep("10 seconds").pipe(
      Effect.zipRight(Effect.ignore(Effect.tryPromise(() => send(progress)))),
      Effect.zipRight(Effect.suspend(() => next(progress + 1)))
    )
  return next(1)
}
