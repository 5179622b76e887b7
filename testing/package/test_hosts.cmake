# SPDX-License-Identifier: BSD-3-Clause
# cmake -DCASE=... -DSOURCE_DIR=... -DBUILD_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCONFIG=... -DPREFIX_PATH=...
#   -DWITH_MPI=... -DWITH_PARAVIEW=... -DPYTHON=... -DC_COMPILER=... -DVERSION=...
#   -DPARAVIEW=... -DLIBDIR=... -DCPACK=... -P test_hosts.cmake
#
# Configures projects that include ParaBAT, each in one of the three ways, and builds almost nothing.
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
set(host "${CMAKE_CURRENT_LIST_DIR}/host")

# run(COMMAND...): stops if it fails; its output is in `output`.
function (run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if (NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${text}")
  endif ()
  set(output "${text}" PARENT_SCOPE)
endfunction ()

# fails(TEXT COMMAND...): stops unless it fails with the text.
function (fails text)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(FIND "${output}" "${text}" found)
  if (result EQUAL 0 OR found EQUAL -1)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} does not fail with '${text}': ${result}\n${output}")
  endif ()
endfunction ()

function (configure source name)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${WORK_DIR}/${name}" -G "${GENERATOR}" -Wno-dev ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction ()

# Installs stand-ins instead of building ParaBAT again in a folder with another configuration.
function (take_what_is_built folder)
  foreach (name IN ITEMS bin python core/capi/fortran)
    if (EXISTS "${BUILD_DIR}/${name}")
      file(REMOVE_RECURSE "${folder}/${name}")
      file(CREATE_LINK "${BUILD_DIR}/${name}" "${folder}/${name}" SYMBOLIC)
    endif ()
  endforeach ()
  # Plugins are in the library folder of the installation, everything else in lib. Uses hard links, since
  # a symbolic link would be installed as one.
  file(REMOVE_RECURSE "${folder}/lib")
  file(GLOB_RECURSE built RELATIVE "${BUILD_DIR}/lib" "${BUILD_DIR}/lib/*")
  foreach (name IN LISTS built)
    get_filename_component(parent "${folder}/lib/${name}" DIRECTORY)
    file(MAKE_DIRECTORY "${parent}")
    file(CREATE_LINK "${BUILD_DIR}/lib/${name}" "${folder}/lib/${name}" COPY_ON_ERROR)
  endforeach ()
  file(STRINGS "${folder}/CMakeCache.txt" libdir REGEX "^CMAKE_INSTALL_LIBDIR:")
  string(REGEX REPLACE "^[^=]*=" "" libdir "${libdir}")
  if (NOT EXISTS "${folder}/${libdir}")
    file(CREATE_LINK "${BUILD_DIR}/${LIBDIR}" "${folder}/${libdir}" SYMBOLIC)
  endif ()
endfunction ()

# hosts_that_find(NAME ParaBAT_DIR): projects with find_package; builds and runs programs in two of them.
function (hosts_that_find name package)
  set(find -DHOW=find "-DParaBAT_DIR=${package}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}")
  configure("${host}" ${name}_c ${find} -DLANGUAGES=C -DWANTED=capi)
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/${name}_c")
  run("${WORK_DIR}/${name}_c/host_c")
  # MPI must not be required unless requested.
  configure("${host}" ${name}_core ${find} -DLANGUAGES=CXX -DWANTED=core -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON)
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/${name}_core" --target host_core)
  run("${WORK_DIR}/${name}_core/host_core")
  if (WITH_MPI)
    configure("${host}" ${name}_insitu ${find} -DLANGUAGES=C+CXX -DWANTED=insitu)
  endif ()
endfunction ()

if (CASE STREQUAL "build_tree")
  hosts_that_find(found "${BUILD_DIR}")
  set(find -DHOW=find "-DParaBAT_DIR=${BUILD_DIR}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}")
  configure("${host}" all ${find} -DLANGUAGES=C -DWANTED=)
  fails("It has no component nonsense, only capi," "${CMAKE_COMMAND}" "${WORK_DIR}/all" -DWANTED=nonsense)
  fails("fmt was not found, and its component core needs it" "${CMAKE_COMMAND}"
    "${WORK_DIR}/found_core" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
elseif (CASE STREQUAL "subdirectory")
  configure("${host}" added -DHOW=add "-DPARABAT=${SOURCE_DIR}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
    -DLANGUAGES=C+CXX)
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/added" --target host_headers)
elseif (CASE STREQUAL "install_tree")
  # The prefix is that of a Python environment, and the libraries lie as in Debian.
  run("${PYTHON}" -m venv --without-pip --system-site-packages "${WORK_DIR}/prefix")
  configure("${SOURCE_DIR}" parabat -DBAT_WITH_PARAVIEW=OFF -DBUILD_TESTING=OFF
    "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" "-DCMAKE_BUILD_TYPE=${CONFIG}"
    "-DCMAKE_INSTALL_PREFIX=${WORK_DIR}/prefix" -DCMAKE_INSTALL_LIBDIR=lib/somewhere
    "-DPython3_EXECUTABLE=${WORK_DIR}/prefix/bin/python3"
    -DCMAKE_CXX_STANDARD=20)
  file(STRINGS "${WORK_DIR}/parabat/compile_commands.json" older REGEX "-std=c\\+\\+1")
  file(STRINGS "${WORK_DIR}/parabat/compile_commands.json" asked REGEX "-std=c\\+\\+(20|2a)")
  if (older OR NOT asked)
    message(FATAL_ERROR "CMAKE_CXX_STANDARD=20 is not honoured: ${older}")
  endif ()

  take_what_is_built("${WORK_DIR}/parabat")
  foreach (component IN ITEMS library devel programs python)
    run("${CMAKE_COMMAND}" --install "${WORK_DIR}/parabat" --component ${component})
  endforeach ()
  if (NOT EXISTS "${WORK_DIR}/prefix/lib/somewhere/libbat_capi.so.1")
    message(FATAL_ERROR "The library is not in CMAKE_INSTALL_LIBDIR")
  endif ()
  hosts_that_find(installed "${WORK_DIR}/prefix/lib/somewhere/cmake/ParaBAT")

  fails("CMAKE_CXX_STANDARD=14: ParaBAT is C++17" "${CMAKE_COMMAND}" "${WORK_DIR}/parabat"
    -DCMAKE_CXX_STANDARD=14)
  fails("BAT_BUILD_TOOLS=OFF with BUILD_TESTING=ON" "${CMAKE_COMMAND}" "${WORK_DIR}/parabat"
    -DCMAKE_CXX_STANDARD=17 -DBAT_BUILD_TOOLS=OFF -DBUILD_TESTING=ON)

  # With an empty environment, Python finds the package in its own prefix, and the package its
  # library.
  file(MAKE_DIRECTORY "${WORK_DIR}/empty")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=BAT_LIBRARY --unset=PYTHONPATH --unset=LD_LIBRARY_PATH
      "${WORK_DIR}/prefix/bin/python3" "${CMAKE_CURRENT_LIST_DIR}/test_installed.py" "${WORK_DIR}"
    WORKING_DIRECTORY "${WORK_DIR}/empty" RESULT_VARIABLE result)
  if (NOT result EQUAL 0)
    message(FATAL_ERROR "test_installed.py: ${result}")
  endif ()

  # The same holds for programs that use pkg-config, also after the prefix has been moved.
  find_program(pkg_config NAMES pkg-config pkgconf)
  if (pkg_config)
    file(RENAME "${WORK_DIR}/prefix" "${WORK_DIR}/moved")
    set(ENV{PKG_CONFIG_PATH} "${WORK_DIR}/moved/lib/somewhere/pkgconfig")
    run("${pkg_config}" --cflags --libs parabat)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run("${C_COMPILER}" "${host}/host.c" ${flags} -o "${WORK_DIR}/host_pkg_config")
    set(ENV{LD_LIBRARY_PATH} "${WORK_DIR}/moved/lib/somewhere")
    run("${WORK_DIR}/host_pkg_config")
    run("${pkg_config}" --modversion parabat)
    if (NOT output MATCHES "^${VERSION}")
      message(FATAL_ERROR "pkg-config says version ${output} and not ${VERSION}")
    endif ()
  endif ()
elseif (CASE STREQUAL "debian")
  # Also checks that requesting static libraries does not create plugins that cannot be loaded.
  configure("${SOURCE_DIR}" parabat "-DBAT_WITH_PARAVIEW=${WITH_PARAVIEW}" -DBUILD_TESTING=OFF
    "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" "-DCMAKE_BUILD_TYPE=${CONFIG}" -DCMAKE_INSTALL_PREFIX=/usr
    "-DPython3_EXECUTABLE=${PYTHON}" -DBUILD_SHARED_LIBS=OFF)
  take_what_is_built("${WORK_DIR}/parabat")
  run("${CPACK}" -G DEB --config "${WORK_DIR}/parabat/CPackConfig.cmake" -B "${WORK_DIR}"
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
  execute_process(COMMAND "${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/test_debian.py" "${WORK_DIR}"
    "${VERSION}" "${PARAVIEW}" RESULT_VARIABLE result)
  if (NOT result EQUAL 0)
    message(FATAL_ERROR "test_debian.py: ${result}")
  endif ()
else ()
  message(FATAL_ERROR "CASE=${CASE}: build_tree, subdirectory, install_tree or debian")
endif ()
