# SPDX-License-Identifier: BSD-3-Clause
# Finds ParaView and builds the plugins. Sets BAT_PARAVIEW_FOUND.
#
# BAT_WITH_PARAVIEW=AUTO goes on without the plugins when ParaView is absent; ON stops.

# Only these components: a plain find_package(ParaView) asks for the development package of every
# third party of every module, most of which Debian's paraview-dev does not depend on.
set(_bat_paraview_components
  WrapClientServer ProcessXML RemotingCore RemotingServerManager RemotingViews VTKExtensionsIOCore
  pqCore pqComponents pqApplicationComponents)

if (BAT_WITH_PARAVIEW STREQUAL "ON")
  find_package(ParaView 5.11 REQUIRED OPTIONAL_COMPONENTS ${_bat_paraview_components})
else ()
  find_package(ParaView 5.11 QUIET OPTIONAL_COMPONENTS ${_bat_paraview_components})
endif ()

if (NOT ParaView_FOUND)
  message(STATUS
    "ParaView not found: building without the plugins (BAT_WITH_PARAVIEW=${BAT_WITH_PARAVIEW})")
  return()
endif ()

include(BATThirdPartyStubs)

if (NOT DEFINED PARAVIEW_QT_MAJOR_VERSION)
  set(PARAVIEW_QT_MAJOR_VERSION 5) # up to ParaView 5.12
endif ()
set(BAT_WITH_WIDGETS OFF)
if (PARAVIEW_USE_QT AND TARGET ParaView::pqApplicationComponents)
  find_package(Qt${PARAVIEW_QT_MAJOR_VERSION} QUIET COMPONENTS Core Widgets)
  if (Qt${PARAVIEW_QT_MAJOR_VERSION}_FOUND)
    set(BAT_WITH_WIDGETS ON)
  endif ()
endif ()
if (BAT_WITH_WIDGETS)
  set(_bat_widgets "with Qt ${PARAVIEW_QT_MAJOR_VERSION} widgets")
else ()
  set(_bat_widgets "without Qt widgets")
endif ()
message(STATUS "ParaView ${ParaView_VERSION}: building the plugins ${_bat_widgets}")

# A program without Python that uses the plugins' modules links this, too: the libraries of Debian's ParaView 6
# leave the symbols of Python to the program that loads them.
add_library(bat_vtk_program INTERFACE)
if (ParaView_VERSION VERSION_GREATER_EQUAL 6.0)
  find_package(Python3 QUIET COMPONENTS Interpreter Development.Embed)
  if (TARGET Python3::Python)
    target_link_libraries(bat_vtk_program INTERFACE -Wl,--no-as-needed Python3::Python)
  endif ()
endif ()

include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME paraview_plugins) # ParaView names none for the plugins
set(BAT_PLUGIN_DIR "${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/paraview-plugins")

add_subdirectory(reader_plugin/common)
add_subdirectory(writer_plugin/common)
paraview_plugin_scan(
  PLUGIN_FILES
    "${PROJECT_SOURCE_DIR}/reader_plugin/paraview.plugin"
    "${PROJECT_SOURCE_DIR}/writer_plugin/paraview.plugin"
  PROVIDES_PLUGINS _bat_plugins
  REQUIRES_MODULES _bat_required_modules
  ENABLE_BY_DEFAULT ON
  HIDE_PLUGINS_FROM_CACHE ON)
foreach (_bat_module IN LISTS _bat_required_modules)
  if (NOT TARGET ${_bat_module})
    message(FATAL_ERROR "ParaView was built without the module ${_bat_module}")
  endif ()
endforeach ()
include(BATParaViewDocumentation)
paraview_plugin_build(
  RUNTIME_DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY_DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY_SUBDIRECTORY "paraview-plugins"
  PLUGINS_FILE_NAME "bat.plugins.xml"
  DISABLE_XML_DOCUMENTATION ${_bat_without_documentation}
  AUTOLOAD ${_bat_plugins}
  PLUGINS ${_bat_plugins})

# Not in the folder of the plugins: ParaView takes every .py there for a plugin.
set(_bat_scripts
  "${PROJECT_SOURCE_DIR}/writer_plugin/convert/convert.py"
  "${PROJECT_SOURCE_DIR}/writer_plugin/convert/bat_ranks.py"
  "${PROJECT_SOURCE_DIR}/writer_plugin/convert/exact_files.py"
  "${PROJECT_SOURCE_DIR}/core/python/parabat/convert/option_types.py"
  "${PROJECT_SOURCE_DIR}/core/python/parabat/convert/ply_vertices.py"
  "${PROJECT_SOURCE_DIR}/core/python/parabat/convert/step_columns.py"
  "${PROJECT_SOURCE_DIR}/core/python/parabat/convert/step_order.py"
  "${PROJECT_SOURCE_DIR}/core/python/parabat/convert/text_tables.py")
install(FILES ${_bat_scripts} DESTINATION "${CMAKE_INSTALL_LIBDIR}/parabat"
  COMPONENT paraview_plugins)
foreach (_bat_script IN LISTS _bat_scripts)
  get_filename_component(_bat_name "${_bat_script}" NAME)
  configure_file("${_bat_script}" "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/parabat/${_bat_name}" COPYONLY)
endforeach ()

set(BAT_PARAVIEW_FOUND ON)
