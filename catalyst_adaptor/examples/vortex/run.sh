#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a small simulation that writes its grid as .idx and its particles as .bat through Catalyst, and
# makes a picture with ParaView.
#
#   bash run.sh [RANKS]     2 if not given; installs and builds what is missing
#
# Environment: SAMPLES along each axis (64), STEPS (1200), EVERY (200), GRAINS (60000), and that of
# testing/setup.sh. Where libcatalyst is not installed, the tests' stand-in loads libcatalyst-bat.so.
# Everything is left in build/vortex/.
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=testing/setup.sh
. "$HERE/../../../testing/setup.sh"

OUT=$BUILD_DIR/vortex

main()
{
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}"
  configure_release
  build "$BUILD_DIR" catalyst_vortex BATReader
  say "Simulation on ${1:-2} ranks"
  rm -rf "$OUT"
  mkdir -p "$OUT"
  export CATALYST_IMPLEMENTATION_NAME=bat CATALYST_IMPLEMENTATION_PATHS=$BUILD_DIR/lib/catalyst
  (cd "$OUT" && mpirun -np "${1:-2}" "$BUILD_DIR/testing/vortex" \
    "${SAMPLES:-64}" "${STEPS:-1200}" "${EVERY:-200}" "${GRAINS:-60000}" </dev/null)
  ls "$OUT"
  say "Picture"
  PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins with_display \
    pvbatch "$HERE/picture.py" "$OUT" "$OUT/vortex.png" </dev/null
  say "To look around yourself, also while a simulation runs:"
  echo "PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins paraview $OUT/flow.idx"
}

main "$@"; exit
