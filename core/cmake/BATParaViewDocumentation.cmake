# SPDX-License-Identifier: BSD-3-Clause
# Finds what the plugins' pages in ParaView's Help need. Sets _bat_without_documentation.
#
# ParaView stops, at configuration or in the build, where one of them is missing.

# Up to ParaView 6.0 xmlpatterns of Qt 5, which Debian has beside qmake; what it has in /usr/bin may be
# a link to nothing.
if (ParaView_VERSION VERSION_LESS 6.1)
  if (TARGET Qt5::qmake)
    get_target_property(_bat_qmake Qt5::qmake IMPORTED_LOCATION)
    get_filename_component(_bat_qt_programs "${_bat_qmake}" DIRECTORY)
  endif ()
  find_program(qt_xmlpatterns_executable NAMES xmlpatterns-qt5 xmlpatterns HINTS "${_bat_qt_programs}")
  mark_as_advanced(qt_xmlpatterns_executable)
  set(_bat_transformer xmlpatterns)
  set(_bat_transformer_runs OFF)
  if (qt_xmlpatterns_executable)
    execute_process(COMMAND "${qt_xmlpatterns_executable}" -help
      RESULT_VARIABLE _bat_status OUTPUT_QUIET ERROR_QUIET)
    if (_bat_status EQUAL 0)
      set(_bat_transformer_runs ON)
    endif ()
  endif ()
else ()
  find_program(ParaViewClient_xsltproc_executable NAMES xsltproc)
  mark_as_advanced(ParaViewClient_xsltproc_executable)
  set(_bat_transformer xsltproc)
  set(_bat_transformer_runs "${ParaViewClient_xsltproc_executable}")
endif ()

set(_bat_qt Qt${PARAVIEW_QT_MAJOR_VERSION})
set(_bat_without_documentation ON)
if (BAT_WITH_WIDGETS)
  find_package(${_bat_qt} QUIET COMPONENTS Help OPTIONAL_COMPONENTS Tools) # Qt 6 has it there
  if (PARAVIEW_QT_MAJOR_VERSION GREATER 5 AND ParaView_VERSION VERSION_LESS 6.1)
    set(_bat_missing "ParaView ${ParaView_VERSION} with Qt ${PARAVIEW_QT_MAJOR_VERSION} cannot make them")
  elseif (NOT _bat_transformer_runs)
    set(_bat_missing "${_bat_transformer} not found")
  elseif (NOT TARGET ${_bat_qt}::qhelpgenerator)
    set(_bat_missing "qhelpgenerator of Qt ${PARAVIEW_QT_MAJOR_VERSION} not found")
  else ()
    set(_bat_without_documentation OFF)
  endif ()
  if (_bat_without_documentation)
    message(STATUS "No pages in ParaView's Help: ${_bat_missing}")
  endif ()
endif ()
