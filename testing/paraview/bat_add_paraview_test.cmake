# SPDX-License-Identifier: BSD-3-Clause
# bat_add_paraview_test(NAME COMMAND ... [FIXTURES ...] [FIXTURE_SETUP name] [PROCESSORS n] [EXPECT_REFUSALS])
#
# A program that uses ParaView with the plugins, labelled paraview. It fails if it prints ParaView's error messages,
# unless these are expected (EXPECT_REFUSALS). With xvfb-run it has its own display, and never runs alongside another of
# these, because event scripts expect pictures in time, and these are drawn on the CPU.
find_program(BAT_MPIEXEC mpiexec)
set(pvpython $<TARGET_FILE:ParaView::pvpython> --dr)

set(bat_paraview_environment
  "PV_PLUGIN_PATH=${BAT_PLUGIN_DIR}"
  "PYTHONPATH=${CMAKE_CURRENT_LIST_DIR}"
  "PYTHONDONTWRITEBYTECODE=1"
  "LC_ALL=C.UTF-8"
  ${BAT_MPI_ENVIRONMENT})

function (bat_add_paraview_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXPECT_REFUSALS" "FIXTURE_SETUP;PROCESSORS" "COMMAND;FIXTURES")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  string(REGEX MATCHALL "<TARGET_FILE:[^:>]+>" programs "${arg_COMMAND}")
  foreach (program IN LISTS programs)
    string(REGEX REPLACE "<TARGET_FILE:(.*)>" "\\1" program "${program}")
    add_dependencies(paraview_tests ${program})
  endforeach ()
  set(failures "Traceback" "Unhandled error" "Couldn't find object" "Segmentation fault" "Failed to locate property")
  if (NOT arg_EXPECT_REFUSALS)
    list(APPEND failures "ERR\\|")
  endif ()
  if (NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif ()
  set(lock "")
  if (BAT_XVFB_RUN IN_LIST arg_COMMAND)
    set(lock xvfb)
    if (arg_PROCESSORS EQUAL 1)
      set(arg_PROCESSORS 2)
    endif ()
  endif ()
  set_tests_properties(${name} PROPERTIES
    PROCESSORS ${arg_PROCESSORS}
    RESOURCE_LOCK "${lock}"
    ENVIRONMENT "${bat_paraview_environment}"
    FAIL_REGULAR_EXPRESSION "${failures}"
    LABELS paraview
    FIXTURES_SETUP "${arg_FIXTURE_SETUP}"
    FIXTURES_REQUIRED "${arg_FIXTURES}")
endfunction ()
