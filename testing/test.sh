#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs the tests.
#
#   bash testing/test.sh           every test, the core's tests again under sanitizers, and those of
#                                  many ranks under another MPI
#   bash testing/test.sh --fast    the tests labelled "fast" (a minute)
#
# Ends with the slowest tests and a line that states what passed and what failed. Environment: see
# setup.sh.
set -euo pipefail

# shellcheck source=testing/setup.sh
. "$(dirname "$0")/setup.sh"

ASAN_DIR=$BUILD_DIR-asan
MPICH_DIR=$BUILD_DIR-mpich
TEST_PACKAGES=(clang clang-format-14 hdf5-tools libclang-rt-14-dev lammps liblammps-dev python3-lammps python3-scipy procps python3-venv
  dpkg-dev file mpich libmpich-dev zsh)

# These may also come from another source than Debian.
command -v npm >/dev/null || TEST_PACKAGES+=(nodejs npm)
command -v chromium >/dev/null || TEST_PACKAGES+=(chromium)

PASSED=0
FAILED=0
FAILED_NAMES=()
SKIPPED_NAMES=()
SECONDS_OF_TESTS=()

# run_ctest TITLE FOLDER [CTEST ARGUMENT ...]: runs tests and counts them. The time-out, the same
# everywhere, is for hanging tests.
run_ctest()
{
  local title=$1 folder=$2 status=0
  shift 2
  say "$title"
  local results=$folder/ctest-results.xml
  rm -f "$results"
  (cd "$folder" && with_display ctest --output-on-failure --no-tests=error --timeout 900 \
    --parallel "$JOBS" --output-junit "$results" "$@") </dev/null || status=$?
  count_results "$title" "$results" "$status"
}

count_results()
{
  local title=$1 results=$2 status=$3 total=0 failed=() skipped=() name
  if [ -e "$results" ]; then
    total=$(grep -c '<testcase ' "$results" || true)
    mapfile -t failed < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="fail".*/\1/p' "$results")
    mapfile -t skipped < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/\1/p' "$results")
    while IFS= read -r name; do
      SECONDS_OF_TESTS+=("$name, $title")
    done < <(sed -n 's/.*<testcase name="\([^"]*\)".* time="\([^"]*\)".*/\2 s  \1/p' "$results")
  fi
  if [ "$status" != 0 ] && [ ${#failed[@]} = 0 ]; then
    failed=("ctest itself (status $status)")
    total=$((total + 1))
  fi
  FAILED=$((FAILED + ${#failed[@]}))
  PASSED=$((PASSED + total - ${#failed[@]} - ${#skipped[@]}))
  for name in "${skipped[@]}"; do
    SKIPPED_NAMES+=("$title: $name")
  done
  for name in "${failed[@]}"; do
    FAILED_NAMES+=("$title: $name")
  done
}

test_release()
{
  configure_release
  build "$BUILD_DIR"
  run_ctest "Tests in $BUILD_DIR" "$BUILD_DIR" "$@"
}

# The core under AddressSanitizer and UndefinedBehaviorSanitizer, without ParaView. GCC takes up to
# five times as long as Clang to compile it; more optimisation doubles the time.
test_sanitized()
{
  local flags='-O1 -g1'
  configure "$ASAN_DIR" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="$flags" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags" \
    -DBAT_SANITIZER=address,undefined -DBAT_WITH_PARAVIEW=OFF
  build "$ASAN_DIR"
  run_ctest "Tests under sanitizers in $ASAN_DIR" "$ASAN_DIR" --label-exclude large
}

# Code that calls MPI, with MPICH in place of Open MPI. On two or three ranks, because MPICH's ranks
# do not yield their processor while they wait.
test_mpich()
{
  configure "$MPICH_DIR" -DCMAKE_BUILD_TYPE=Release -DBAT_WITH_PARAVIEW=OFF -DBAT_WITH_MPI=ON \
    -DMPI_C_COMPILER=mpicc.mpich -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.mpich
  build "$MPICH_DIR" test_parallel_nodes test_parallel_leader_exchange \
    test_mpi_exchange test_mpi_routes test_mpi_dataset test_mpi_faults
  run_ctest "Tests with MPICH in $MPICH_DIR" "$MPICH_DIR" \
    --tests-regex '^(parallel.(nodes.np1|leader_exchange.np[23])|mpi.(exchange|routes|dataset|faults).np2)$'
}

main()
{
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
  case ${1:-} in
    '')
      test_release
      test_sanitized
      test_mpich
      ;;
    --fast) test_release -L fast ;;
    *) die "what is '$1'? Known: --fast" ;;
  esac

  say "Slowest tests"
  printf '%s\n' "${SECONDS_OF_TESTS[@]}" | sort --reverse --general-numeric-sort | sed -n 1,15p

  say "Result"
  [ ${#FAILED_NAMES[@]} = 0 ] || printf 'failed: %s\n' "${FAILED_NAMES[@]}"
  if [ ${#SKIPPED_NAMES[@]} != 0 ]; then
    printf 'skipped: %s\n' "${SKIPPED_NAMES[@]}"
  fi
  echo "$PASSED passed, $FAILED failed"
  [ "$FAILED" = 0 ]
}

main "$@"; exit
