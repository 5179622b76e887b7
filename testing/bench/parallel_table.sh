#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs parallel_bench.py in all configurations of the tables in README.md, and makes their pictures
# and the table.
#
#   bash testing/bench/parallel_table.sh [FILE.npz]...
#
# Installs what is missing, builds, writes JSON, PNG and table.md to build/bench/parallel. About 30 minutes.
# FILE.npz: particles of a real simulation, an array pos (n, 3) and others of n rows.
#
# Environment: see ../setup.sh, and
#   BENCH_RANKS      numbers of ranks (default: "1 2 4 8")
#   BENCH_REPEAT     pairs of BAT and raw (default: 15), BENCH_VTK_REPEAT of BAT and VTK (default: 5)
#   BENCH_PARTICLES  of the boiler and the uniform set (default: 1400000)
#   BENCH_OUT        folder for the results, BENCH_DISK where the measured files go (default: both as above)
set -euo pipefail

# shellcheck source=testing/setup.sh
. "$(dirname "$0")/../setup.sh"

RANKS=${BENCH_RANKS:-1 2 4 8}
PARTICLES=${BENCH_PARTICLES:-1400000}
OUT=${BENCH_OUT:-$BUILD_DIR/bench/parallel}
DISK=${BENCH_DISK:-$OUT}
VTK=$BUILD_DIR/bench/vtk-9.2.6
BENCH=$SOURCE_DIR/testing/bench

# run NAME RANKS [OPTION ...]
run()
{
  local name=$1 ranks=$2
  shift 2
  # Ranks on one machine need no network.
  OMPI_MCA_btl=^tcp PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins mpirun -np "$ranks" pvbatch \
    "$BENCH/parallel_bench.py" --json "$OUT/${name}_$ranks.json" --folder "$DISK" \
    --repeat "${BENCH_REPEAT:-15}" --vtk-repeat "${BENCH_VTK_REPEAT:-5}" --vtk-venv "$VTK" "$@" </dev/null
}

main()
{
  local files=("$@") file ranks mode
  for file in "${files[@]}"; do
    [ -f "$file" ] || die "$file: no such file"
  done
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}" python3-matplotlib python3-venv
  configure_release
  build "$BUILD_DIR" bat_plan bat_capi BATReader BATWriter
  mkdir -p "$OUT" "$DISK"

  say "Runs with $RANKS ranks; $(uptime)"
  for ranks in $RANKS; do
    for file in "${files[@]}"; do
      run "$(basename "$file" .npz)" "$ranks" --kind "npz:$(realpath "$file")"
    done
    run boiler "$ranks" --particles "$PARTICLES" --mode adaptive rank-border aug
    run boiler_rows "$ranks" --particles "$PARTICLES" --deal rows
    run uniform "$ranks" --kind uniform --particles "$PARTICLES" --attributes 14
  done

  say "Leaf files of the paper's boiler"
  for mode in adaptive rank-border aug; do
    "$BUILD_DIR/bin/bat_plan" --mode "$mode" --target-size 8MB --sizes --json "$OUT/plan_$mode.json"
  done

  local runs=("$OUT"/*_[0-9]*.json)
  /usr/bin/python3 "$BENCH/plot_bench.py" --folder "$OUT" "${runs[@]}" --plans "$OUT"/plan_*.json
  say "Table: $OUT/table.md"
  cat "$OUT/table.md"
}

main "$@"; exit
