#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests the suite under other versions of ParaView, and the README's commands on a fresh
# machine, in Debian root folders created by debootstrap. Needs root. The host is not changed.
#
#   testing/other_paraviews.sh [OPTION ...] [trixie] [forky] [bookworm-fresh] [bookworm-packages] [trixie-packages]
#
#   trixie              ParaView 5.13: build without warnings, tests of plugins, also in ParaView's window
#   forky               ParaView 6.1:  the same
#   bookworm-fresh      an up-to-date Debian 12 from nothing: testing/demo.sh and testing/test.sh
#   bookworm-packages   Debian packages, built on this Debian 12, installed on an up-to-date one from nothing
#   trixie-packages     the same with Debian 13: built in its root folder
#   --all               of trixie and forky, builds and tests everything: without it, what uses VTK or ParaView
#   --prepare           only makes the root folders
#   --tests REGEX       of trixie and forky, only the tests whose names match
#   --run COMMAND       in trixie and forky, only runs a shell's command in the build folder; in it,
#                       with_display PROGRAM ... has a virtual X display, and /source is the source tree
#
# Default: trixie and forky. Their root folders (about 4 GB each) are kept with the build folder and the
# compiler's cache, and reused.
#
# Environment:
#   PARABAT_ROOTS    where the root folders are (default: /var/tmp/parabat-roots)
#   PARABAT_MIRROR   Debian mirror (default: the one in this machine's apt sources)
#   BAT_JOBS         parallel compile jobs (default: number of processors)
set -euo pipefail

ROOTS=${PARABAT_ROOTS:-/var/tmp/parabat-roots}

# Everything is mounted in a separate mount namespace and runs in a separate process namespace:
# however this script ends, mounts and processes end with it.
if [ -z "${PARABAT_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] || { echo "error: only root can make and enter root folders" >&2; exit 1; }
  PARABAT_INSIDE=1 exec unshare --mount --pid --fork --kill-child --mount-proc bash "$0" "$@"
fi

# shellcheck source=testing/setup.sh
. "$(dirname "$0")/setup.sh"

# This script never ends silently.
set -E
trap 'echo "error: $(basename "$0") line $LINENO: exit status $? of: $BASH_COMMAND" >&2' ERR

TEST_PACKAGES=(
  build-essential cmake ninja-build ccache pkg-config
  libtbb-dev libxxhash-dev libzstd-dev nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libzip-dev
  zlib1g-dev liblz4-dev libcurl4-openssl-dev
  python3 python3-dev python3-numpy python3-xxhash python3-zstandard
  paraview paraview-dev python3-paraview libopenmpi-dev openmpi-bin libhdf5-mpi-dev
  qt6-base-dev qt6-svg-dev qt6-svg-plugins qt6-5compat-dev qt6-tools-dev
  libgl1-mesa-dri libegl1 xvfb xauth)

# Packages that a suite's paraview-dev needs without depending on them.
packages_of()
{
  case $1 in
    trixie) echo "${TEST_PACKAGES[@]}" libutfcpp-dev libtheora-dev libgl2ps-dev libglew-dev \
      libfreetype-dev libdouble-conversion-dev ;;
    forky) echo "${TEST_PACKAGES[@]}" libvtk9-dev libvtk9-qt-dev xsltproc ;;
  esac
}

# Each suite has its own display numbers: root folders share the machine's abstract sockets.
display_of()
{
  case $1 in
    trixie) echo 150 ;;
    forky) echo 160 ;;
    *) echo 170 ;;
  esac
}

# mirror_of RELEASE: prints the address that this machine's apt uses for a release, e.g.
# bookworm-security.
mirror_of()
{
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$1" '$1 == release && $2 == "main" { print $3; exit }'
}

host_release() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

mirror()
{
  local found=${PARABAT_MIRROR:-$(mirror_of "$(host_release)")}
  [ -n "$found" ] || die "no Debian mirror in this machine's apt sources; set PARABAT_MIRROR"
  echo "$found"
}

in_root()
{
  local root=$1
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1 \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=^tcp,ofi \
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    BAT_JOBS="$JOBS" CCACHE_DIR=/var/cache/ccache ${EXTRA_ENVIRONMENT:-} \
    chroot "$root" "$@"
}

# Creates a minimal Debian of a suite unless it exists.
bootstrap()
{
  local suite=$1 root=$2
  [ ! -e "$root/.bootstrapped" ] || return 0
  say "Making a root folder of Debian $suite in $root"
  ensure_packages debootstrap
  local script=/usr/share/debootstrap/scripts/$suite
  # A debootstrap older than the suite lacks its script; those of all newer suites are alike.
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" "$(mirror)" "$script" >"$root.log" 2>&1 ||
    { tail "$root.log" >&2; die "debootstrap failed; its whole output is in $root.log"; }
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no services in a root folder
  chmod +x "$root/usr/sbin/policy-rc.d"
  # A mirror may be a frozen copy; its signatures are still checked.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/frozen-mirror"
  touch "$root/.bootstrapped"
}

# Locks the root folder against other calls of this script, which would build in the same folder.
enter()
{
  local root=$1
  exec {ROOT_LOCK}>"$root.lock"
  flock --nonblock "$ROOT_LOCK" || { say "Waiting for another call that uses $root"; flock "$ROOT_LOCK"; }
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --make-rslave "$root/dev"
}

leave()
{
  local root=$1
  umount --lazy "$root/sys" "$root/proc"
  umount --recursive --lazy "$root/dev"
  exec {ROOT_LOCK}>&-
}

install_packages()
{
  local suite=$1 root=$2 wanted log=$2.apt.log
  wanted=$(packages_of "$suite")
  [ "$(cat "$root/.packages" 2>/dev/null)" != "$wanted" ] || return 0
  say "Installing ParaView and compilers in $root (minutes)"
  printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
  printf 'path-exclude=/usr/share/%s/*\n' doc man locale info >"$root/etc/dpkg/dpkg.cfg.d/small"
  # shellcheck disable=SC2086
  {
    in_root "$root" apt-get update &&
      in_root "$root" apt-get install --yes --quiet --no-install-recommends -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-unsafe-io -o Acquire::Retries=3 $wanted &&
      link_python_modules "$root" &&
      in_root "$root" apt-get clean
  } >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "apt-get failed; its whole output is in $log"; }
  echo "$wanted" >"$root/.packages"
}

# Debian renamed the Python modules of VTK and ParaView after 5.11, but the CMake files that
# paraview-dev installs still name the old files, and find_package(ParaView) stops. Links help.
link_python_modules()
{
  in_root "$1" sh -ec 'cd /usr/lib/python3/dist-packages
    find vtkmodules paraview -name "*.cpython-*.so" | while read -r file; do
      link="${file%%.cpython-*}.so"
      [ -e "$link" ] || ln -s "$(basename "$file")" "$link"
    done'
}

prepare()
{
  bootstrap "$1" "$ROOTS/$1"
  enter "$ROOTS/$1"
  install_packages "$1" "$ROOTS/$1"
  leave "$ROOTS/$1"
}

# with_source SUITE COMMAND: runs a shell command in the build folder of a suite's root folder, with
# the source tree mounted read-only. Its output is also saved to a file.
with_source()
{
  local suite=$1 command=$2 root=$ROOTS/$1 status=0
  bootstrap "$suite" "$root"
  enter "$root"
  install_packages "$suite" "$root"
  mkdir -p "$root/source" "$root/build"
  mount --bind "$SOURCE_DIR" "$root/source"
  mount -o remount,bind,ro "$root/source"

  say "Debian $suite: ParaView $(in_root "$root" dpkg-query -Wf '${Version}' paraview)"
  EXTRA_ENVIRONMENT="BAT_DISPLAY=$(display_of "$suite")" \
    in_root "$root" bash -euo pipefail -c '
      with_display() { xvfb-run -a -n "$BAT_DISPLAY" -s "-screen 0 1500x950x24 -noreset" "$@"; }
      export -f with_display
      cd /build
      eval "$1"' in_root "$command" {ROOT_LOCK}>&- </dev/null 2>&1 | tee "$root.test.log" || status=$?
  [ "$status" = 0 ] ||
    echo "error: exit status $status in $root/build of: $command" | tee --append "$root.test.log" >&2

  umount --lazy "$root/source"
  leave "$root"
  record "$suite" "$status" "$root.test.log"
}

# Targets for the tests that use VTK or ParaView.
PARAVIEW_TARGETS=({core,reader_plugin,writer_plugin,catalyst_adaptor,testing/{vtk,paraview,extracts}}/all paraview_tests bat_plan)

# Configure, build with warnings as errors, tests.
build_and_test()
{
  with_source "$1" '
    cmake -S /source -B /build -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release \
      -DBAT_STRICT_BUILD=ON -DBAT_WITH_PARAVIEW=ON -DPython3_EXECUTABLE=/usr/bin/python3 \
      -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    cmake --build /build --parallel "$BAT_JOBS" --target '"${PARAVIEW_TARGETS[*]}"' -- -k 0
    with_display ctest --output-on-failure --no-tests=error --timeout 600 -L "'"$LABELS"'" \
      --tests-regex '"$(printf %q "$TESTS")"
}

# enter_fresh SUITE ROOT: enters a root folder with an up-to-date minimal Debian. It is created each
# time from an untouched copy that is kept next to it.
enter_fresh()
{
  local pristine=$ROOTS/$1-minbase root=$2
  bootstrap "$1" "$pristine"
  rm -rf --one-file-system "$root"
  cp --archive --reflink=auto "$pristine" "$root"
  [ "$1" != bookworm ] || write_bookworm_sources "$root"
  enter "$root"
  in_root "$root" apt-get update >/dev/null
  in_root "$root" apt-get dist-upgrade --yes --quiet=2 -o Dpkg::Options::=--force-unsafe-io >/dev/null
}

# build_packages SUITE: builds Debian packages on this machine or in the suite's root folder, into
# $PACKAGES.
build_packages()
{
  local folder=$BUILD_DIR-debian
  if [ "$1" != bookworm ]; then
    folder=/build-debian
    # shellcheck disable=SC2016
    with_source "$1" '
      folder=/build-debian
      command -v file >/dev/null || apt-get install --yes --quiet=2 --no-install-recommends file >/dev/null
      cmake -S /source -B $folder -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
        -DBAT_STRICT_BUILD=ON -DBAT_WITH_PARAVIEW=ON -DBAT_WITH_MPI=ON -DBUILD_TESTING=OFF \
        -DPython3_EXECUTABLE=/usr/bin/python3 \
        -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
      cmake --build $folder --parallel "$BAT_JOBS"
      rm -rf $folder/packages
      cd $folder && cpack -B $folder/packages >/dev/null'
    PACKAGES=$ROOTS/$1$folder/packages
    return
  fi
  [ "$(host_release)" = bookworm ] || die "packages for Debian 12 are built on Debian 12"
  ensure_packages "${CORE_PACKAGES[@]}" "${PARAVIEW_PACKAGES[@]}" dpkg-dev file
  configure "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DBAT_WITH_PARAVIEW=ON -DBAT_WITH_MPI=ON -DBUILD_TESTING=OFF
  build "$folder"
  rm -rf "$folder/packages"
  (cd "$folder" && cpack -B "$folder/packages" >/dev/null)
  PACKAGES=$folder/packages
}

# packages_on_fresh_machine SUITE: on a clean machine with an empty environment, the packages' content
# works, and is removed with them.
packages_on_fresh_machine()
{
  local root=$ROOTS/$1-packages status=0
  build_packages "$1"
  compgen -G "$PACKAGES/*.deb" >/dev/null || return 0 # recorded
  enter_fresh "$1" "$root"
  mkdir "$root/packages"
  cp "$PACKAGES"/*.deb "$SOURCE_DIR/testing/package/host/host.c" "$root/packages"
  say "Clean Debian $(cat "$root/etc/debian_version"): its packages of ParaBAT"
  in_root "$root" bash -euo pipefail -c '
    cd /packages
    apt-get install --yes --quiet=2 --no-install-recommends -o Dpkg::Use-Pty=0 \
      -o Dpkg::Options::=--force-unsafe-io ./*.deb python3-paraview gcc libc6-dev pkg-config >/apt.log ||
      { tail /apt.log; exit 1; }
    python3 -c "
import parabat
parabat.write(\"one.bat\", [[1.0, 2.0, 3.0]], {\"id\": [7]})
with parabat.open(\"one.bat\") as dataset:
    assert dataset.read([\"id\"])[\"id\"].tolist() == [7]"
    bat_info one.bat
    bat_validate one.bat
    gcc host.c $(pkg-config --cflags --libs parabat) -o host
    ./host
    cat >one.py <<END
from paraview.simple import *
reader = BATReader(FileName=["one.bat"])
reader.UpdatePipeline()
assert reader.GetDataInformation().GetNumberOfPoints() == 1
SaveData("two.bat", reader)
END
    pvpython one.py
    bat_validate two.bat
    conf=$(sed -n "s/^conf=//p" /var/lib/dpkg/info/paraview-parabat.prerm)
    grep -q paraview-plugins/bat "$conf"
    apt-get remove --yes --quiet=2 paraview-parabat parabat-tools python3-parabat libparabat1 >>/apt.log
    if grep -q paraview-plugins/bat "$conf" 2>/dev/null; then exit 1; fi
    [ ! -e /usr/lib/python3/dist-packages/parabat ]
    dpkg --audit' </dev/null 2>&1 | tee "$root.log" || status=$?
  record "$1-packages" "$status" "$root.log"
  leave "$root"
}

# Runs the README's two commands on a clean machine.
fresh_machine()
{
  local root=$ROOTS/bookworm-fresh command status
  enter_fresh bookworm "$root"
  copy_checkout "$root/parabat"

  for command in testing/demo.sh testing/test.sh; do
    say "Fresh Debian 12 ($(cat "$root/etc/debian_version")): bash $command"
    status=0
    EXTRA_ENVIRONMENT="BAT_DISPLAY=$(display_of bookworm-fresh)" \
      in_root "$root" bash -c "cd /parabat && bash $command" </dev/null 2>&1 |
      tee "$root.$(basename "$command").log" || status=$?
    record "bookworm-fresh, $command" "$status" "$root.$(basename "$command").log"
  done
  leave "$root"
}

# Main, updates and security: the sources of an installed Debian 12.
write_bookworm_sources()
{
  local security
  security=$(mirror_of bookworm-security)
  {
    echo "deb $(mirror) bookworm main"
    echo "deb $(mirror) bookworm-updates main"
    if [ -n "$security" ]; then
      echo "deb $security bookworm-security main"
    else
      echo "warning: no security updates, this machine's apt has no bookworm-security" >&2
    fi
  } >"$1/etc/apt/sources.list"
}

# The current files of the checkout, without build folders and history.
copy_checkout()
{
  mkdir -p "$1"
  tar --create --directory "$SOURCE_DIR" --exclude=./.git --exclude='./build*' . |
    tar --extract --directory "$1"
}

TESTS=.
LABELS='vtk|paraview'
RESULTS=()
FAILED=0

record()
{
  local what=$1 status=$2 log=$3 tests
  tests=$(grep --text -E 'tests passed|[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || true)
  if [ "$status" = 0 ]; then
    RESULTS+=("$(printf '%-34s ok      %s' "$what" "$tests")")
  else
    RESULTS+=("$(printf '%-34s FAILED  %s (exit status %s; see %s)' "$what" "$tests" "$status" "$log")")
    FAILED=$((FAILED + 1))
  fi
}

main()
{
  local action=build_and_test suites=() suite command=''
  while [ $# -gt 0 ]; do
    case $1 in
      --all) PARAVIEW_TARGETS=(all) LABELS=. ;;
      --prepare) action=prepare ;;
      --tests | --run)
        [ $# -gt 1 ] || die "nothing after $1"
        if [ "$1" = --tests ]; then
          TESTS=$2
        else
          action=with_source command=$2
        fi
        shift
        ;;
      trixie | forky | bookworm-fresh | bookworm-packages | trixie-packages) suites+=("$1") ;;
      *) die "what is '$1'? Known: --all, --prepare, --tests, --run, trixie, forky, bookworm-fresh, bookworm-packages, trixie-packages" ;;
    esac
    shift
  done
  [ ${#suites[@]} -gt 0 ] || suites=(trixie forky)
  mkdir -p "$ROOTS"

  for suite in "${suites[@]}"; do
    case $action:$suite in
      prepare:*-*) bootstrap "${suite%-*}" "$ROOTS/${suite%-*}-minbase" ;;
      with_source:*-*) die "--run is for trixie and forky" ;;
      *:*-packages) packages_on_fresh_machine "${suite%-*}" ;;
      *:bookworm-fresh) fresh_machine ;;
      *) "$action" "$suite" "$command" ;;
    esac
  done
  [ "$action" != prepare ] || return 0

  say "Summary"
  printf '%s\n' "${RESULTS[@]}"
  [ "$FAILED" = 0 ] || exit 1
}

main "$@"; exit
