#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the reader and the viewer in a copy of core/web, with Node.js (18 or newer) and npm, so that npm installs
# nothing into the source tree.
#
#   bash core/web/make.sh FOLDER [TARGET ...]     into FOLDER/core/web/dist; targets are those of build.mjs
#
# Exits with 77 and gives the reason if Node.js or npm is not installed or the registry cannot be reached.
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(realpath -m "${1:?usage: make.sh FOLDER [TARGET ...]}")
shift

skip()
{
  echo "skipped: $*" >&2
  exit 77
}

command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || skip "node $(node --version) is older than 18"

# The copy has the layout of the source tree, so relative paths between its files stay valid.
mkdir -p "$WORK"
folders=(core/web)
[ ! -d "$SOURCE/testing/web" ] || folders+=(testing/web)
tar -C "$SOURCE" --exclude=node_modules --exclude=dist -cf - "${folders[@]}" | tar -C "$WORK" -xf -
cd "$WORK/core/web"
key=$(sha256sum <package-lock.json)
if [ "$(cat "$WORK/installed" 2>/dev/null)" != "$key" ]; then
  npm ci --no-audit --no-fund --ignore-scripts >"$WORK/npm.log" 2>&1 || {
    cat "$WORK/npm.log" >&2
    ! grep -Eq 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' "$WORK/npm.log" || skip "no way to the npm registry"
    exit 1
  }
  echo "$key" >"$WORK/installed"
fi
[ $# = 0 ] || node build.mjs "$@"
