#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a collision of two balls of atoms with Debian's LAMMPS, which writes .bat while it runs; compares
# the files with LAMMPS's own dumps, and makes a picture with ParaView.
#
#   bash run.sh [RANKS]     2 if not given; installs and builds what is missing
#
# Environment: RADIUS of each ball in unit cells (10: 33,000 atoms; 25: 523,000), STEPS, EVERY, and that
# of testing/setup.sh. Everything is left in build/lammps/.
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=testing/setup.sh
. "$HERE/../../../testing/setup.sh"

OUT=$BUILD_DIR/lammps

simulate()
{
  say "Simulation on $1 ranks"
  rm -rf "$OUT"
  mkdir -p "$OUT"
  mpirun -np "$1" lmp -in "$HERE/in.collision" -log "$OUT/log.lammps" -var out "$OUT" -var dump 1 \
    -var radius "${RADIUS:-10}" -var steps "${STEPS:-1200}" -var every "${EVERY:-100}" \
    </dev/null >"$OUT/screen" || { tail -n 30 "$OUT/screen" >&2; die "LAMMPS failed; its output is in $OUT"; }
  grep '^Loop time' "$OUT/log.lammps" | tail -n 1
}

main()
{
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}" lammps python3-lammps
  configure_release
  build "$BUILD_DIR" bat_capi BATReader
  export PYTHONPATH=$HERE:$SOURCE_DIR/core/python BAT_LIBRARY=$BUILD_DIR/lib/libbat_capi.so
  export BAT_OUT=$OUT
  simulate "${1:-2}"
  say "Comparison with LAMMPS's own dumps"
  python3 "$HERE/compare.py" "$OUT"
  say "Picture"
  PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins with_display \
    pvbatch "$HERE/picture.py" "$OUT/collision.bat.series" "$OUT/collision.png" </dev/null
  say "To look around yourself, also while a simulation runs:"
  echo "PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins paraview --data=$OUT/collision.bat.series"
}

main "$@"; exit
