#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds core/web and runs its tests, in a copy: node_modules/ is no part of the source tree.
#
#   bash testing/web/run.sh FOLDER PYTHON reader     the reader in node; PYTHON imports parabat
#
# Ends with 77, and says why, where node or npm are not installed or there is no way to the registry.
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(realpath -m "$1")
PYTHON=$2

skip()
{
  echo "skipped: $*"
  exit 77
}

command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || skip "node $(node --version) is older than 18"

# The copy has the same layout, so that paths between its files are the same.
mkdir -p "$WORK/core/web" "$WORK/testing/web"
tar -C "$SOURCE" --exclude=node_modules --exclude=dist -cf - core/web testing/web | tar -C "$WORK" -xf -
cd "$WORK/core/web"
key=$(sha256sum <package-lock.json)
if [ "$(cat "$WORK/installed" 2>/dev/null)" != "$key" ]; then
  npm ci --no-audit --no-fund --ignore-scripts >"$WORK/npm.log" 2>&1 || {
    cat "$WORK/npm.log"
    ! grep -Eq 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' "$WORK/npm.log" || skip "no way to the npm registry"
    exit 1
  }
  echo "$key" >"$WORK/installed"
fi

export PARABAT_SOURCE=$SOURCE PARABAT_WORK=$WORK PARABAT_PYTHON=$PYTHON
npx tsc --project .
node build.mjs tests
case $3 in
  reader)
    "$PYTHON" "$SOURCE/testing/web/make_oracle.py" "$WORK/oracle.json" "$SOURCE"/testing/bat/golden/v1/*.bat
    PARABAT_ORACLE=$WORK/oracle.json node --enable-source-maps --test dist/tests/reader.test.mjs dist/tests/server.test.mjs
    ;;
  *)
    echo "what is '$3'? Known: reader" >&2
    exit 2
    ;;
esac
