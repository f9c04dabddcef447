/**
 * What tests of patterns and of apps that use them need: a scripted model, fake tools, and a clock for simulations.
 */
export * as FakeTools from "./FakeTools.js"
export * as ScriptedLlm from "./ScriptedLlm.js"
export * as SimulationClock from "./SimulationClock.js"
