#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds, and compares ParaBAT with other ways to store particles: runs compare.py with everything
# it needs.
#
#   bash testing/bench/compare_table.sh [OPTION OF compare.py]...
#
# JSON, PNG and table.md go to build/bench/compare. Takes about ten minutes for each kind of ten million
# particles.
set -euo pipefail

# shellcheck source=testing/setup.sh
. "$(dirname "$0")/../setup.sh"

main()
{
  ensure_packages "${CORE_PACKAGES[@]}" python3-matplotlib python3-venv
  # An existing build folder keeps its options.
  [ -e "$BUILD_DIR/CMakeCache.txt" ] ||
    configure "$BUILD_DIR" -DCMAKE_BUILD_TYPE=Release -DBAT_WITH_PARAVIEW=OFF
  build "$BUILD_DIR" bat_bench bat_capi
  /usr/bin/python3 "$SOURCE_DIR/testing/bench/compare.py" --build "$BUILD_DIR" "$@"
}

main "$@"; exit
