# bat_add_paraview_test(NAME COMMAND ... [FIXTURES ...] [FIXTURE_SETUP name] [EXPECT_REFUSALS])
#
# A program that uses ParaView with the plugins, labelled paraview. It fails if it prints what ParaView prints when
# something is wrong, unless it is a test of that (EXPECT_REFUSALS).
find_program(BAT_MPIEXEC mpiexec)
set(pvpython $<TARGET_FILE:ParaView::pvpython> --dr)

set(bat_paraview_environment
  "PV_PLUGIN_PATH=${BAT_PLUGIN_DIR}"
  "PYTHONPATH=${CMAKE_CURRENT_LIST_DIR}"
  "PYTHONDONTWRITEBYTECODE=1"
  "LC_ALL=C.UTF-8"
  ${BAT_MPI_ENVIRONMENT})

function (bat_add_paraview_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXPECT_REFUSALS" "FIXTURE_SETUP" "COMMAND;FIXTURES")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set(failures "Traceback" "Unhandled error" "Couldn't find object" "Segmentation fault")
  if (NOT arg_EXPECT_REFUSALS)
    list(APPEND failures "ERR\\|")
  endif ()
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${bat_paraview_environment}"
    FAIL_REGULAR_EXPRESSION "${failures}"
    LABELS paraview
    TIMEOUT 180
    FIXTURES_SETUP "${arg_FIXTURE_SETUP}"
    FIXTURES_REQUIRED "${arg_FIXTURES}")
endfunction ()
