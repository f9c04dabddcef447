import { defineConfig } from "vitest/config"

// Every core, where the default leaves one free: most of the time goes into programs that the tests start.
export default defineConfig({ test: { projects: ["packages/*", "examples"], maxWorkers: "100%", minWorkers: 1 } })
