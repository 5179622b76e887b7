# SPDX-License-Identifier: BSD-3-Clause
# Shared set-up of demo.sh, test.sh and other_paraviews.sh: packages, build, display. Source it from
# bash; it does nothing by itself.
#
# Environment:
#   BAT_BUILD_DIR   build folder (default: build/ next to testing/)
#   BAT_JOBS        compile jobs and tests at the same time (default: number of processors)
#   BAT_DISPLAY     first number to try for a virtual X display (default: 99)

SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD_DIR=$(realpath -m "${BAT_BUILD_DIR:-$SOURCE_DIR/build}")
JOBS=${BAT_JOBS:-$(nproc)}

CORE_PACKAGES=(
  cmake g++ ninja-build make ccache pkg-config
  libtbb-dev libxxhash-dev libzstd-dev nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libzip-dev
  zlib1g-dev liblz4-dev libcurl4-openssl-dev
  libopenmpi-dev openmpi-bin gfortran python3-mpi4py python3-h5py
  python3 python3-numpy python3-xxhash python3-zstandard)
PARAVIEW_PACKAGES=(
  paraview paraview-dev python3-paraview
  qtbase5-dev qttools5-dev libqt5opengl5-dev libqt5svg5 qtxmlpatterns5-dev-tools
  libgl1-mesa-dri xvfb xauth)

say() { printf '\n== %s\n' "$*"; }

die()
{
  printf 'error: %s\n' "$*" >&2
  exit 1
}

is_installed()
{
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Prints the named packages that are not installed.
missing_packages()
{
  local package
  for package in "$@"; do
    is_installed "$package" || echo "$package"
  done
}

# Runs a command as root: directly, or through sudo.
as_root()
{
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

apt_get()
{
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get --yes --quiet=2 -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io \
    -o Acquire::Retries=3 "$@"
}

# Installs the named packages that are missing; does not call apt if none is.
ensure_packages()
{
  command -v dpkg-query >/dev/null ||
    die "this script installs Debian packages, and this is not a Debian system. Needed: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and there is neither root nor sudo to install them.
Run this as root, then start again:
  apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "Installing ${#missing[@]} packages and what they need (minutes, the first time)"
  echo "${missing[*]}"
  local log
  log=$(mktemp)
  { apt_get update && apt_get install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
    { tail -n 30 "$log" >&2; die "apt-get failed; its whole output is in $log"; }
  rm -f "$log"
}

# configure FOLDER [CMAKE ARGUMENT ...]
configure()
{
  local folder=$1 log=$1/configure.log
  shift
  mkdir -p "$folder"
  say "Building in $folder"
  cmake -S "$SOURCE_DIR" -B "$folder" -G Ninja -Wno-dev \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DPython3_EXECUTABLE=/usr/bin/python3 "$@" >"$log" 2>&1 ||
    { tail -n 40 "$log" >&2; die "CMake failed; its whole output is in $log"; }
}

# build FOLDER [TARGET ...]
build()
{
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$JOBS" ${*:+--target "$@"}
}

# The build for users: programs and ParaView plugins, optimised.
configure_release()
{
  configure "$BUILD_DIR" -DCMAKE_BUILD_TYPE=Release -DBAT_WITH_PARAVIEW=ON
}

# Runs a command with a virtual X display; Debian's ParaView 5.11 cannot draw without one.
# -noreset: without it, parallel ParaView runs lose the server at random.
with_display()
{
  xvfb-run --auto-servernum --server-num="${BAT_DISPLAY:-99}" \
    --server-args="-screen 0 1500x950x24 -noreset" "$@"
}

# Nothing below may depend on the user's Python, locale, or on which user runs Open MPI.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
export LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1
# A checkout reuses what another one has compiled identically, wherever it is.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$SOURCE_DIR}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism=none
