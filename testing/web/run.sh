#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds core/web in a copy and runs its tests.
#
#   bash testing/web/run.sh FOLDER PYTHON reader     the reader in node; PYTHON imports parabat
#   bash testing/web/run.sh FOLDER PYTHON viewer     the viewer in a headless Chromium
#   bash testing/web/run.sh FOLDER PYTHON measure FILE.bat ...     figures of the viewer, a line of JSON each
#   bash testing/web/run.sh FOLDER PYTHON picture FILE.bat FILE.png     the picture of its manual, of a step of the demo
#
# Exits with 77 and gives the reason if something is not installed.
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(realpath -m "$1")
PYTHON=$2

export PARABAT_SOURCE=$SOURCE PARABAT_WORK=$WORK PARABAT_PYTHON=$PYTHON
need_chromium()
{
  CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: chromium is not installed"
    exit 77
  }
  export CHROMIUM
}

case $3 in
  reader)
    bash "$SOURCE/core/web/make.sh" "$WORK" reader types tests
    cd "$WORK/core/web"
    node_modules/.bin/tsc --project .
    "$PYTHON" "$SOURCE/testing/web/make_oracle.py" "$WORK/oracle.json" "$SOURCE"/testing/particles/golden/v1/*.bat
    PARABAT_ORACLE=$WORK/oracle.json node --enable-source-maps --test dist/tests/{reader,server,logic,package}.test.mjs
    ;;
  viewer)
    need_chromium
    bash "$SOURCE/core/web/make.sh" "$WORK" viewer tests
    cd "$WORK/core/web"
    "$PYTHON" "$SOURCE/testing/web/make_data.py" "$WORK/data" "$SOURCE/testing/particles/golden/v1"
    node --enable-source-maps --test dist/tests/viewer.test.mjs
    ;;
  measure)
    need_chromium
    bash "$SOURCE/core/web/make.sh" "$WORK" viewer tests >&2
    "$PYTHON" "$SOURCE/testing/web/make_data.py" --answers "$WORK/measured.json" "${@:4}"
    node --enable-source-maps "$WORK/core/web/dist/tests/measure.mjs" "${@:4}"
    ;;
  picture)
    need_chromium
    bash "$SOURCE/core/web/make.sh" "$WORK" viewer tests
    node --enable-source-maps "$WORK/core/web/dist/tests/picture.mjs" "${@:4}"
    ;;
  *)
    echo "what is '$3'? Known: reader, viewer, measure, picture" >&2
    exit 2
    ;;
esac
