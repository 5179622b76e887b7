# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package: where the interpreter looks for packages if it is one of this prefix,
# else in share/parabat/python, which has to be in PYTHONPATH.
find_package(Python3 QUIET COMPONENTS Interpreter)
set(python_dir share/parabat/python)
if (Python3_FOUND)
  execute_process(COMMAND "${Python3_EXECUTABLE}" -c "
import os, site, sys
inside = [os.path.relpath(folder, sys.argv[1]) for folder in site.getsitepackages()]
# Those of /usr/local are not those of /usr.
print(next((folder for folder in inside if not folder.startswith(('..', 'local'))), ''))
" "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if (folder)
    set(python_dir "${folder}")
  endif ()
endif ()
set(BAT_PYTHON_DIR "${python_dir}" CACHE STRING "Where the Python package is installed, below the prefix")
message(STATUS "Python package: ${BAT_PYTHON_DIR} below the prefix")

# The package knows where the library is, from its own folder.
set(library "${CMAKE_INSTALL_LIBDIR}/libbat_capi.so.${PROJECT_VERSION_MAJOR}")
if (NOT IS_ABSOLUTE "${library}")
  file(RELATIVE_PATH library "/prefix/${BAT_PYTHON_DIR}/parabat" "/prefix/${library}")
endif ()
configure_file("${CMAKE_CURRENT_LIST_DIR}/_installed.py.in" "${PROJECT_BINARY_DIR}/installed/_installed.py"
  @ONLY)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/python/parabat" DESTINATION "${BAT_PYTHON_DIR}"
  COMPONENT python PATTERN __pycache__ EXCLUDE)
install(FILES "${PROJECT_BINARY_DIR}/installed/_installed.py" DESTINATION "${BAT_PYTHON_DIR}/parabat"
  COMPONENT python)
install(FILES "${PROJECT_SOURCE_DIR}/reader_plugin/python/parabat_paraview.py"
  DESTINATION "${BAT_PYTHON_DIR}/parabat/paraview" COMPONENT python)
install(FILES "${PROJECT_SOURCE_DIR}/xml/BATReader.xml" "${PROJECT_SOURCE_DIR}/xml/BATWriter.xml"
    "${PROJECT_SOURCE_DIR}/xml/IDXReader.xml" "${PROJECT_SOURCE_DIR}/xml/IDXWriter.xml"
  DESTINATION "${BAT_PYTHON_DIR}/parabat/paraview/proxies" COMPONENT python)
# Where the target `viewer` was built.
install(FILES "${PROJECT_BINARY_DIR}/web/core/web/dist/viewer.html" DESTINATION "${BAT_PYTHON_DIR}/parabat"
  COMPONENT python OPTIONAL)
