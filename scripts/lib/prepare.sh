# Shared by the scripts: installs and builds with nothing but Node and npm, and skips what is up to date.

export CI="${CI:-true}"
pnpm_version=10.34.9

need_node() {
  if ! command -v node >/dev/null || ! node -e 'process.exit(+process.versions.node.split(".")[0] >= 20 ? 0 : 1)'; then
    echo "Node.js 20 or newer is needed: https://nodejs.org" >&2
    return 1
  fi
}

# What the installed packages depend on, as one number.
lock_sum() {
  cat pnpm-lock.yaml pnpm-workspace.yaml package.json packages/*/package.json examples/package.json | cksum
  node --version
}

install() {
  local stamp=node_modules/.forethought-install
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(lock_sum)" ]; then
    return 0
  fi
  # Spelt out, for `set -e` does not hold where a caller looks at the status: a failed install must leave no stamp.
  if ! npx -y "pnpm@$pnpm_version" install --frozen-lockfile --prefer-offline; then
    echo "The packages could not be installed. Check that this machine reaches its package registry, and try again." >&2
    return 1
  fi
  lock_sum >"$stamp"
}

# Runs a command and shows what it printed only where it failed.
quietly() {
  local log status=0
  log="$(mktemp)"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}
