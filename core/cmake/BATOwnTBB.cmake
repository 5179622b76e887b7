# SPDX-License-Identifier: BSD-3-Clause
# For Python packages: a oneTBB that is linked into the library and hidden in it. With the machine's, the
# library would share it with a VTK or ParaView in the same process, which may need another version.
#
# From the sources in the folder BAT_ONETBB_SOURCE, else downloaded. Where neither can be had, the
# machine's is linked, and a warning says so.
set(BAT_ONETBB_SOURCE "$ENV{BAT_ONETBB_SOURCE}" CACHE PATH "Sources of oneTBB for Python packages; empty: download")
set(source "${BAT_ONETBB_SOURCE}")
if (NOT source)
  set(version 2021.8.0)
  set(sha256 7e9111b8bb59c8800bf6d0b06afe7b0891937443d2dae1ee1101c8e2ede6a7ef)
  set(archive "${PROJECT_BINARY_DIR}/onetbb-${version}.tar.xz")
  set(source "${PROJECT_BINARY_DIR}/onetbb-${version}")
  if (NOT EXISTS "${source}/CMakeLists.txt")
    # The second is what becomes of the first when its Debian is no longer kept up.
    foreach (host IN ITEMS deb.debian.org archive.debian.org)
      file(DOWNLOAD "http://${host}/debian/pool/main/o/onetbb/onetbb_${version}.orig.tar.xz" "${archive}"
        TIMEOUT 300 INACTIVITY_TIMEOUT 20 STATUS status)
      list(GET status 0 code)
      if (code EQUAL 0)
        file(SHA256 "${archive}" found)
        if (found STREQUAL sha256)
          file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${PROJECT_BINARY_DIR}/onetbb")
          file(GLOB unpacked "${PROJECT_BINARY_DIR}/onetbb/*")
          file(RENAME "${unpacked}" "${source}")
          break ()
        endif ()
      endif ()
    endforeach ()
  endif ()
endif ()

if (NOT EXISTS "${source}/CMakeLists.txt")
  message(WARNING "The sources of oneTBB are not in BAT_ONETBB_SOURCE and cannot be downloaded: the package "
    "needs this machine's oneTBB, and shares it with whatever else of the process does")
  return ()
endif ()

function (bat_add_onetbb)
  set(BUILD_SHARED_LIBS OFF)
  set(TBB_TEST OFF)
  set(TBBMALLOC_BUILD OFF)
  set(TBB_STRICT OFF)
  set(TBB_ENABLE_IPO OFF)
  set(TBB_DISABLE_HWLOC_AUTOMATIC_SEARCH ON)
  unset(TBB_DIR CACHE) # with which it would look for another
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # options that are set above are kept
  add_subdirectory("${source}" "${PROJECT_BINARY_DIR}/own_onetbb" EXCLUDE_FROM_ALL)
  get_target_property(headers tbb INTERFACE_INCLUDE_DIRECTORIES)
  set_property(TARGET tbb PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${headers}")
endfunction ()
bat_add_onetbb()
# What find_package(TBB) finds from here on.
file(WRITE "${PROJECT_BINARY_DIR}/TBBConfig.cmake" "# The oneTBB of this build: TBB::tbb is there already.\n")
set(TBB_DIR "${PROJECT_BINARY_DIR}" CACHE PATH "oneTBB" FORCE)
install(FILES "${source}/LICENSE.txt" DESTINATION parabat/licenses RENAME oneTBB.txt COMPONENT python)
