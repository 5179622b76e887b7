#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the plugins for the ParaView that its makers publish. Not run in this project's own tests: it is
# for .github/workflows/packages.yml, in the image of ParaView's makers for building plugins.
#
#   official_paraview.sh SOURCE DEPENDENCIES OUT
#
# DEPENDENCIES has the sources of oneTBB, fmt, json, xxHash and zstd, in folders of these names: they go into
# the plugins, which need nothing of the machine on which they are loaded but ParaView.
#
# Of these images is known, from the workflows of their makers (github.com/Kitware/paraview-ci-example):
# ParaView is in /builds/gitlab-kitware-sciviz-ci/build/install; those of 5.13 are CentOS 7 with GCC 7,
# those of 6.0 and later a CentOS 8 with GCC 10. Neither GCC has std::from_chars of floating point, so
# that a newer one of the same system is installed, with the same standard library and ABI. What is
# not known is whether its packages can still be had there, and whether the images have all of Qt that
# the panels of the plugins need.
set -euo pipefail

# newer_compiler TOOLSET: the rest runs in it.
newer_compiler()
{
  yum --assumeyes --quiet install "$1-gcc-c++"
  # shellcheck disable=SC1090
  set +u && . "$(find /opt/rh -path "*/$1/enable")" && set -u
}

if [ "$(. /etc/os-release && echo "${VERSION_ID%%.*}")" = 7 ]; then
  # Its mirrors are gone; the archive has what they had.
  sed -i -e 's|^mirrorlist=|#&|' -e 's|^#* *baseurl=http://mirror.centos.org|baseurl=http://archive.kernel.org/centos-vault|' \
    /etc/yum.repos.d/*.repo
  newer_compiler devtoolset-11
else
  newer_compiler gcc-toolset-12
fi

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
static_library zstd zstd/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF

PARAVIEW=/builds/gitlab-kitware-sciviz-ci/build/install
[ -d "$PARAVIEW" ] || { echo "error: this image has no $PARAVIEW" >&2; exit 1; }

cmake -S "$SOURCE" -B "$WORK/build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$STATIC;$PARAVIEW" \
  -DBAT_WITH_PARAVIEW=ON -DBUILD_TESTING=OFF -DBAT_BUILD_TOOLS=OFF \
  -DBAT_BUILD_CATALYST_ADAPTOR=OFF -DCMAKE_INSTALL_LIBDIR=lib \
  "-DXXHASH_LIBRARY=$STATIC/lib/libxxhash.a" "-DXXHASH_INCLUDE_DIR=$STATIC/include" \
  "-DZSTD_LIBRARY=$STATIC/lib/libzstd.a" "-DZSTD_INCLUDE_DIR=$STATIC/include" \
  -DCMAKE_MODULE_LINKER_FLAGS=-Wl,--exclude-libs,ALL
cmake --build "$WORK/build" --parallel "$(nproc)"
cmake --install "$WORK/build" --prefix "$OUT" --component paraview_plugins
