#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# From a simulation to pictures: installs what is missing, builds, runs a granular impact with LAMMPS,
# converts its dumps to .bat, opens them with the ParaView reader in several ways, checks every result
# against the dumps, and writes pictures to build/demo/.
#
#   bash testing/demo.sh
#
# The first run takes minutes. Later runs skip finished work. Environment: see setup.sh.
set -euo pipefail

# shellcheck source=testing/setup.sh
. "$(dirname "$0")/setup.sh"

DEMO_SOURCE=$SOURCE_DIR/testing/demo
DEMO=$BUILD_DIR/demo
SIMULATION=$DEMO/simulation

# Steps of the simulation: to let the bed settle, in total, and between two dumps.
SETTLE=700
STEPS=3200
EVERY=800

simulation_key()
{
  echo "settle $SETTLE, steps $STEPS, every $EVERY"
  sha256sum <"$DEMO_SOURCE/in.impact"
  dpkg-query --show lammps
}

simulate()
{
  local key
  key=$(simulation_key)
  if [ "$(cat "$SIMULATION/done" 2>/dev/null)" = "$key" ]; then
    say "Simulation: still there in $SIMULATION"
    return
  fi
  say "Simulation: a ball of grains hits a bed of 200,000 (2 to 4 minutes)"
  rm -rf "$SIMULATION"
  mkdir -p "$SIMULATION"
  mpirun -np 2 lmp -in "$DEMO_SOURCE/in.impact" -log "$SIMULATION/log.lammps" \
    -var settle $SETTLE -var steps $STEPS -var every $EVERY -var out "$SIMULATION" \
    </dev/null >"$SIMULATION/screen" 2>&1 ||
    { tail -n 30 "$SIMULATION/screen" >&2; die "LAMMPS failed; its output is in $SIMULATION"; }
  grep '^Total wall time' "$SIMULATION/log.lammps"
  echo "$key" >"$SIMULATION/done"
}

run_pvbatch()
{
  PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins with_display pvbatch "$@" </dev/null
}

main()
{
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}" lammps
  configure_release
  build "$BUILD_DIR" bat_info bat_validate bat_capi BATReader BATWriter
  mkdir -p "$DEMO"
  simulate

  local dumps=("$SIMULATION"/impact.*.dump)
  say "Conversion: pvbatch reads the dumps and saves .bat files"
  run_pvbatch "$DEMO_SOURCE/convert.py" "$DEMO" "${dumps[@]}"

  local bats=("$DEMO"/impact_*.bat)
  "$BUILD_DIR/bin/bat_validate" "${bats[@]}"

  say "Tracks: some grains at many times, appended one by one"
  PYTHONPATH=$SOURCE_DIR/core/python BAT_LIBRARY=$BUILD_DIR/lib/libbat_capi.so \
    python3 "$DEMO_SOURCE/trails.py" "$DEMO" "$SIMULATION"/trails.*.dump

  say "Queries: pvbatch opens the .bat files and compares with the dumps"
  run_pvbatch "$DEMO_SOURCE/open.py" "$DEMO" "$SIMULATION" "${bats[@]}"

  say "The demo is complete. To look around yourself:"
  echo "PV_PLUGIN_PATH=$BUILD_DIR/lib/paraview-plugins paraview --data=${bats[-1]}"
}

main "$@"; exit
