import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

export default (): void => {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../build.mjs", import.meta.url))], { stdio: "inherit" })
}
