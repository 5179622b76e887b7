# SPDX-License-Identifier: BSD-3-Clause
# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCONFIG=... -P test_package.cmake
# Installs BUILD_DIR, then builds and runs four projects that know only the installed files.
function (run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if (NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}")
  endif ()
endfunction ()

file(REMOVE_RECURSE "${WORK_DIR}")
set(prefix "${WORK_DIR}/prefix")
foreach (component IN ITEMS library devel)
  run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${prefix}" --component ${component})
endforeach ()

# The installed package must not depend on the folder in which it was built.
file(GLOB package_files "${prefix}/lib/cmake/ParaBAT/*.cmake")
foreach (name IN LISTS package_files)
  file(STRINGS "${name}" found REGEX "${BUILD_DIR}")
  if (found)
    list(FILTER found EXCLUDE REGEX "${prefix}")
  endif ()
  if (found)
    message(FATAL_ERROR "${name} names the build folder: ${found}")
  endif ()
endforeach ()

# The module that libcatalyst loads is not a target of the package.
foreach (name IN ITEMS lib/catalyst/libcatalyst-bat.so include/bat/catalyst_bat.h)
  if (NOT EXISTS "${prefix}/${name}")
    message(FATAL_ERROR "${name} is not installed")
  endif ()
endforeach ()

function (build_project source name)
  run(${CMAKE_COMMAND} -S "${source}" -B "${WORK_DIR}/${name}" -G "${GENERATOR}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_PREFIX_PATH=${prefix}")
  run(${CMAKE_COMMAND} --build "${WORK_DIR}/${name}")
endfunction ()

build_project("${SOURCE_DIR}/c" c)
run("${WORK_DIR}/c/orbit" write "${WORK_DIR}/orbit.bat")
run("${WORK_DIR}/c/orbit" restart "${WORK_DIR}/orbit.bat")
build_project("${SOURCE_DIR}/insitu" insitu)
run("${WORK_DIR}/insitu/orbit_insitu" "${WORK_DIR}/steps/orbit.bat")
if (EXISTS "${prefix}/include/bat/flow/trace.hpp")
  build_project("${SOURCE_DIR}/flow" flow)
  run("${WORK_DIR}/flow/own_source" "${WORK_DIR}/wheel")
endif ()
build_project("${CMAKE_CURRENT_LIST_DIR}/package_cxx" cxx)
run("${WORK_DIR}/cxx/package_cxx" "${WORK_DIR}/two.bat")
