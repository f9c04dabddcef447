/**
 * Tries an interruption at each yield point of a program, with a scheduler that makes almost every operation one.
 *
 * A program that holds under it holds under every interleaving of its fibers. Effect's own `forEach` with concurrency,
 * `race`, `timeout` and `async` do not: see `Concurrency` for what does.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scheduler from "effect/Scheduler"

/** A scheduler that runs nothing by itself. */
export interface StepScheduler extends Scheduler.Scheduler {
  /** Runs at most so many tasks, and says how many there were. */
  readonly run: (most: number) => number
  /** Runs everything, what Promises and other schedulers wake included. */
  readonly settle: () => Promise<void>
}

/**
 * No priority of its own: Effect takes `undefined` for the default one, though its type does not say so. With a number
 * each yield would need more operations than there are between two.
 */
const defaultPriority: number = Reflect.get({}, "priority")

/** Makes a scheduler under which a fiber yields after `every` operations. At least 3: with fewer none gets on. */
export const makeScheduler = (every = 3): StepScheduler => {
  const queue: Array<() => void> = []
  const run = (most: number): number => {
    let ran = 0
    for (; ran < most; ran++) {
      const task = queue.shift()
      if (task === undefined) break
      task()
    }
    return ran
  }
  return {
    shouldYield: (fiber) => (fiber.currentOpCount >= every ? defaultPriority : false),
    scheduleTask: (task) => {
      queue.push(task)
    },
    run,
    settle: async () => {
      for (let quiet = 0; quiet < 3; ) {
        quiet = run(200_000) === 0 ? quiet + 1 : 0
        await new Promise((done) => setImmediate(done))
      }
    }
  }
}

/** The fate of the program that was interrupted after so many tasks. */
export interface Ending<State, A, E> {
  readonly tasks: number
  readonly state: State
  /** Absent if it never ended. */
  readonly exit: Exit.Exit<A, E> | undefined
}

/** A program to be interrupted, and what its parts tell of themselves while it runs. */
export interface Trial<State, A, E> {
  readonly effect: Effect.Effect<A, E>
  readonly state: State
  /** Called in the moment in which the program has ended: whatever `state` tells from then on came too late. */
  readonly ended?: () => void
}

/**
 * Runs a program, interrupted after 0, 1, 2, … tasks until it ends by itself or `most` were tried, and gives each
 * ending to `check` when all is quiet. Returns how many interruptions were tried.
 *
 * @param options.every after how many operations a fiber yields. Default: 3.
 * @param options.most how many interruptions are tried at the most. Default: 1,000.
 */
export const everywhere = async <State, A, E>(
  make: () => Trial<State, A, E>,
  check: (ending: Ending<State, A, E>) => void | Promise<void>,
  options: { readonly every?: number; readonly most?: number } = {}
): Promise<number> => {
  const most = options.most ?? 1_000
  for (let tasks = 0; tasks < most; tasks++) {
    const scheduler = makeScheduler(options.every)
    const { effect, ended, state } = make()
    const fiber = Effect.runFork(Effect.withScheduler(effect, scheduler), { scheduler })
    if (ended !== undefined) fiber.addObserver(ended)
    const ran = scheduler.run(tasks)
    if (ran < tasks) await scheduler.settle()
    if (fiber.unsafePoll() === null) fiber.unsafeInterruptAsFork(fiber.id())
    await scheduler.settle()
    await check({ tasks, state, exit: fiber.unsafePoll() ?? undefined })
    if (ran < tasks) return tasks
  }
  return most
}
