#!/bin/bash
# Builds the plugins for the ParaView that its makers publish. Not run in this project's own tests: it is
# for .github/workflows/packages.yml, in the image of ParaView's makers for building plugins.
#
#   official_paraview.sh SOURCE DEPENDENCIES OUT
#
# DEPENDENCIES has the sources of oneTBB, fmt, json and xxHash, in folders of these names: they go into
# the plugins, which need nothing of the machine on which they are loaded but ParaView.
set -euo pipefail

SOURCE=$(realpath "$1")
DEPENDENCIES=$(realpath "$2")
OUT=$(realpath -m "$3")
WORK=$(mktemp -d)
STATIC=$WORK/static

# static_library NAME FOLDER [OPTION ...]
static_library()
{
  local name=$1 folder=$2
  shift 2
  cmake -S "$DEPENDENCIES/$folder" -B "$WORK/$name" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden \
    -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_INSTALL_PREFIX=$STATIC" "$@"
  cmake --build "$WORK/$name" --parallel "$(nproc)" --target install
}

static_library onetbb oneTBB -DTBB_TEST=OFF -DTBBMALLOC_BUILD=OFF -DTBB_STRICT=OFF
static_library fmt fmt -DFMT_TEST=OFF -DFMT_DOC=OFF
static_library json json -DJSON_BuildTests=OFF
static_library xxhash xxHash/cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF

# Where the image has ParaView.
PARAVIEW=$(find / -xdev -path '*/lib/cmake/paraview-*' \
  \( -name paraview-config.cmake -o -name ParaViewConfig.cmake \) -printf '%h\n' | head -n 1)
[ -n "$PARAVIEW" ] || { echo "error: no ParaView with files for CMake in this image" >&2; exit 1; }

cmake -S "$SOURCE" -B "$WORK/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$STATIC" \
  "-DParaView_DIR=$PARAVIEW" -DBAT_WITH_PARAVIEW=ON -DBUILD_TESTING=OFF -DBAT_BUILD_TOOLS=OFF \
  -DBAT_BUILD_CATALYST_ADAPTOR=OFF -DCMAKE_INSTALL_LIBDIR=lib \
  "-DXXHASH_LIBRARY=$STATIC/lib/libxxhash.a" "-DXXHASH_INCLUDE_DIR=$STATIC/include" \
  -DCMAKE_MODULE_LINKER_FLAGS=-Wl,--exclude-libs,ALL
cmake --build "$WORK/build" --parallel "$(nproc)"
cmake --install "$WORK/build" --prefix "$OUT" --component paraview_plugins
