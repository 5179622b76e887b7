# SPDX-License-Identifier: BSD-3-Clause
# Debian packages of what BATInstall and BATParaView install: `cmake --preset debian`, build, `cpack`.
#
# Names are those of the project: in Debian, `bat` is another program.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME parabat)
set(CPACK_PACKAGE_CONTACT "The ParaBAT authors")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(library_package libparabat${PROJECT_VERSION_MAJOR})

# bat_debian_package(COMPONENT NAME SECTION DESCRIPTION)
set(CPACK_COMPONENTS_ALL)
macro (bat_debian_package component name section description)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/${name} RENAME copyright
    COMPONENT ${component})
endmacro ()

# bat_debian_scripts(COMPONENT SCRIPTS...): of core/packaging/debian/NAME_OF_PACKAGE/.
macro (bat_debian_scripts component)
  string(TOUPPER ${component} upper)
  set(from "${PROJECT_SOURCE_DIR}/core/packaging/debian/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(to "${PROJECT_BINARY_DIR}/installed/debian/${component}")
  foreach (script IN ITEMS ${ARGN})
    configure_file("${from}/${script}.in" "${to}/${script}" @ONLY)
    list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${to}/${script}")
  endforeach ()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endmacro ()

bat_debian_package(library ${library_package} libs
  "Library that writes and reads particles in C, Fortran and Python, and libcatalyst-bat for Catalyst 2.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)

bat_debian_package(devel libparabat-dev libdevel
  "Headers, static libraries for C++, the Fortran module, and files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "${library_package} ${same_version}")
set(CPACK_DEBIAN_DEVEL_PACKAGE_RECOMMENDS
  "libtbb-dev, libfmt-dev, nlohmann-json3-dev, libxxhash-dev, libzstd-dev, zlib1g-dev, liblz4-dev")
if (BAT_CURL_FOUND)
  string(APPEND CPACK_DEBIAN_DEVEL_PACKAGE_RECOMMENDS ", libcurl4-openssl-dev")
endif ()
if (BAT_MPI_FOUND)
  string(APPEND CPACK_DEBIAN_DEVEL_PACKAGE_RECOMMENDS ", libopenmpi-dev")
endif ()

if (BAT_BUILD_TOOLS)
  bat_debian_package(programs parabat-tools science
    "bat_info says what a particle file holds, bat_validate checks it, bat_repack compresses it.")
  set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
endif ()

bat_debian_package(python python3-parabat python
  "The Python package parabat: particle files, written and read with numpy.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${library_package} ${same_version}, python3, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-mpi4py, python3-pandas")
bat_debian_scripts(python postinst prerm)

if (BAT_PARAVIEW_FOUND)
  # ParaView loads what this file names. Where it is depends on how ParaView was built.
  get_filename_component(paraview_libdir "${ParaView_DIR}/../.." ABSOLUTE)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" paraview_minor "${ParaView_VERSION}")
  set(paraview_conf "${paraview_libdir}/paraview-${paraview_minor}/paraview.conf")
  if (NOT EXISTS "${paraview_conf}")
    set(paraview_conf /usr/bin/paraview.conf)
  endif ()
  set(plugins_file "${CMAKE_INSTALL_FULL_LIBDIR}/paraview-plugins/bat.plugins.xml")
  bat_debian_package(paraview_plugins paraview-parabat science
    "Plugins of ParaView that open particle files in an instant, refine them at will, and write them.")
  set(CPACK_DEBIAN_PARAVIEW_PLUGINS_PACKAGE_SHLIBDEPS ON)
  # Plugins fit the ParaView that they were built for.
  math(EXPR next "${ParaView_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PARAVIEW_PLUGINS_PACKAGE_DEPENDS
    "paraview (>= ${paraview_minor}), paraview (<< ${ParaView_VERSION_MAJOR}.${next}~)")
  set(CPACK_DEBIAN_PARAVIEW_PLUGINS_PACKAGE_RECOMMENDS "python3-paraview")
  bat_debian_scripts(paraview_plugins postinst prerm triggers)
endif ()

include(CPack)
