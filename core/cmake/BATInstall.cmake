# SPDX-License-Identifier: BSD-3-Clause
# Installs libraries, headers, the CMake package ParaBAT, pkg-config files, programs and the Python
# package. Components: library (what programs need to run), devel, programs, python, and of
# BATParaView paraview_plugins.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ParaBAT")

# bat_export(COMPONENT TARGETS...): targets that find_package(ParaBAT COMPONENTS ...) brings, each
# under the name of its room. Those that a component builds on are in components before it.
set(bat_components)
macro (bat_export component)
  list(APPEND bat_components ${component})
  foreach (target IN ITEMS ${ARGN})
    string(REPLACE "bat_" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  endforeach ()
  install(TARGETS ${ARGN} EXPORT ParaBAT_${component}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT devel
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ParaBAT_${component} NAMESPACE ParaBAT:: DESTINATION "${package_dir}"
    COMPONENT devel)
  export(EXPORT ParaBAT_${component} NAMESPACE ParaBAT::
    FILE "${PROJECT_BINARY_DIR}/ParaBAT_${component}.cmake")
endmacro ()

set(fortran_module_dir "${CMAKE_INSTALL_LIBDIR}/parabat/fortran")
bat_export(capi bat_capi)
if (TARGET bat_fortran)
  target_include_directories(bat_fortran INTERFACE "$<INSTALL_INTERFACE:${fortran_module_dir}>")
  bat_export(fortran bat_fortran)
  install(DIRECTORY "$<TARGET_PROPERTY:bat_fortran,Fortran_MODULE_DIRECTORY>/"
    DESTINATION "${fortran_module_dir}" COMPONENT devel FILES_MATCHING PATTERN "*.mod")
endif ()
bat_export(core bat_common bat_core bat_settings)
set(rooms common series particles capi libbat/api)
if (TARGET bat_idx)
  bat_export(idx bat_idx)
  list(APPEND rooms idx)
endif ()
if (TARGET bat_bricks)
  bat_export(bricks bat_bricks)
  bat_export(flow bat_flow)
  list(APPEND rooms bricks flow)
endif ()
if (BAT_MPI_FOUND)
  bat_export(mpi bat_parallel bat_mpi)
  bat_export(insitu bat_insitu)
  list(APPEND rooms parallel particles/parallel insitu)
  if (TARGET bat_idx_mpi)
    bat_export(idx_mpi bat_idx_mpi)
    list(APPEND rooms idx/parallel)
  endif ()
  if (TARGET bat_bricks_mpi)
    bat_export(bricks_mpi bat_bricks_mpi)
    list(APPEND rooms bricks/parallel)
  endif ()
endif ()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/ParaBATConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/ParaBATConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ParaBATConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ParaBATConfig.cmake"
  "${PROJECT_BINARY_DIR}/ParaBATConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT devel)

foreach (room IN LISTS rooms)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/${room}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    COMPONENT devel FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endforeach ()
install(DIRECTORY "${PROJECT_BINARY_DIR}/core/particles/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT devel FILES_MATCHING PATTERN "*.hpp")

if (BAT_BUILD_TOOLS)
  install(TARGETS bat_info bat_repack bat_validate
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT programs)
endif ()
if (TARGET catalyst_bat)
  install(TARGETS catalyst_bat
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/catalyst" COMPONENT library)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/catalyst_adaptor/include/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel FILES_MATCHING PATTERN "*.h")
endif ()

include(BATInstallPkgConfig)
include(BATInstallPython)
