# SPDX-License-Identifier: BSD-3-Clause
# Installs parabat.pc (C) and parabat-fortran.pc, which go on to be right where the prefix is moved to.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
if (NOT IS_ABSOLUTE "${pc_dir}")
  file(RELATIVE_PATH pc_prefix "/prefix/${pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif ()
set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
foreach (folder IN ITEMS pc_libdir pc_includedir)
  if (NOT IS_ABSOLUTE "${${folder}}")
    set(${folder} "\${prefix}/${${folder}}")
  endif ()
endforeach ()

# bat_install_pkg_config(NAME LINES...)
function (bat_install_pkg_config pc_name)
  list(JOIN ARGN "\n" pc_rest)
  configure_file("${PROJECT_SOURCE_DIR}/core/cmake/parabat.pc.in" "${PROJECT_BINARY_DIR}/installed/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/installed/${pc_name}.pc" DESTINATION "${pc_dir}"
    COMPONENT devel)
endfunction ()

bat_install_pkg_config(parabat "Libs: -L\${libdir} -lbat_capi" "Cflags: -I\${includedir}")
if (TARGET bat_fortran)
  bat_install_pkg_config(parabat-fortran "Requires: parabat"
    "Libs: -L\${libdir} -lbat_fortran" "Cflags: -I\${libdir}/parabat/fortran")
endif ()
