/**
 * Gives tests of patterns, and of apps that use them, what they need: a scripted model, fake tools, a clock for
 * simulations, and interruption at every yield point.
 */
export * as FakeTools from "./FakeTools.js"
export * as Interruption from "./Interruption.js"
export * as ScriptedLlm from "./ScriptedLlm.js"
export * as SimulationClock from "./SimulationClock.js"
