# Sourced by the scripts beside it: where things are, and one way to say what
# went wrong. Works with the bash 3.2 that macOS ships.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${GITPIN_CACHE:-$root/.cache}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# No binary here says which commit it is from, and asking git for it fails in a
# checkout that belongs to another user.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"

# The user's own CLI configuration, checkpoint calls and git settings must not
# decide how a test, a generated page or the demo comes out.
clean_environment() {
  mkdir -p "$cache"
  printf 'disable_checkpoint = true\n' >"$cache/empty.tfrc"
  export TF_CLI_CONFIG_FILE=$cache/empty.tfrc
  export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0
  unset TF_LOG TF_LOG_PATH TF_LOG_CORE TF_LOG_PROVIDER TF_DATA_DIR TF_WORKSPACE TF_PLUGIN_CACHE_DIR TF_REATTACH_PROVIDERS
  # shellcheck disable=SC2086 # a list of names
  unset ${!TF_VAR_@}
  unset TF_CLI_ARGS TF_CLI_ARGS_init TF_CLI_ARGS_plan TF_CLI_ARGS_apply
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PROTOCOL
}

# True when the CLI at $1 is OpenTofu, whatever the file is called.
is_tofu() { "$1" version 2>/dev/null | head -n 1 | grep -q OpenTofu; }
