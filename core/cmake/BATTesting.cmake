# SPDX-License-Identifier: BSD-3-Clause
# bat_add_test(NAME group.name SOURCES ... [LABELS ...] [LIBRARIES ...])
#
# One GoogleTest program, one ctest entry. Tests of the core are "fast" unless labels say otherwise.
find_package(GTest REQUIRED)

function (bat_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LABELS;LIBRARIES;ARGUMENTS")
  string(REPLACE "." "_" target "test_${arg_NAME}")
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/testing")
  target_link_libraries(${target}
    PRIVATE ParaBAT::core bat_settings GTest::gtest GTest::gtest_main ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/testing")
  add_test(NAME ${arg_NAME} COMMAND ${target} ${arg_ARGUMENTS})
  if (NOT arg_LABELS)
    set(arg_LABELS fast)
  endif ()
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}")
endfunction ()

# bat_keep_scratch_in_memory(NAME...): for tests that write small files ten thousand times, for which
# a file system on a disk takes longer than the test.
function (bat_keep_scratch_in_memory)
  if (IS_DIRECTORY /dev/shm)
    set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT TMPDIR=/dev/shm)
  endif ()
endfunction ()
