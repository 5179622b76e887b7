# Installs libraries, headers and the CMake package ParaBAT: ParaBAT::capi for C, and if the project
# that asks is in C++, ParaBAT::core and ParaBAT::mpi. Everything is in the component "library".
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/ParaBAT)
set_target_properties(bat_common PROPERTIES EXPORT_NAME common)
set_target_properties(bat_core PROPERTIES EXPORT_NAME core)
set_target_properties(bat_settings PROPERTIES EXPORT_NAME settings)
set_target_properties(bat_capi PROPERTIES EXPORT_NAME capi)
set(cxx_targets bat_common bat_core bat_settings)
set(c_targets bat_capi)
if (TARGET bat_mpi)
  set_target_properties(bat_parallel PROPERTIES EXPORT_NAME parallel)
  set_target_properties(bat_mpi PROPERTIES EXPORT_NAME mpi)
  set_target_properties(bat_insitu PROPERTIES EXPORT_NAME insitu)
  list(APPEND cxx_targets bat_parallel bat_mpi bat_insitu)
endif ()
if (TARGET bat_fortran)
  set_target_properties(bat_fortran PROPERTIES EXPORT_NAME fortran)
  list(APPEND c_targets bat_fortran)
  install(DIRECTORY "$<TARGET_PROPERTY:bat_fortran,Fortran_MODULE_DIRECTORY>/"
    DESTINATION lib/parabat/fortran COMPONENT library FILES_MATCHING PATTERN "*.mod")
endif ()

foreach (language IN ITEMS c cxx)
  install(TARGETS ${${language}_targets} EXPORT ParaBAT_${language}
    LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT library
    ARCHIVE DESTINATION lib COMPONENT library)
  install(EXPORT ParaBAT_${language} NAMESPACE ParaBAT:: DESTINATION ${package_dir}
    COMPONENT library)
endforeach ()
install(TARGETS bat_info bat_validate RUNTIME DESTINATION bin COMPONENT library)

set(rooms common bat capi)
if (TARGET bat_mpi)
  list(APPEND rooms parallel bat/parallel insitu)
endif ()
foreach (room IN LISTS rooms)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/${room}/include/"
    DESTINATION include COMPONENT library FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endforeach ()
install(DIRECTORY "${PROJECT_BINARY_DIR}/core/bat/include/"
  DESTINATION include COMPONENT library FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/core/python/bat.py"
  DESTINATION share/parabat/python COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/python/parabat"
  DESTINATION share/parabat/python COMPONENT library PATTERN __pycache__ EXCLUDE)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/ParaBATConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/ParaBATConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ParaBATConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ParaBATConfig.cmake"
  "${PROJECT_BINARY_DIR}/ParaBATConfigVersion.cmake"
  DESTINATION ${package_dir} COMPONENT library)
