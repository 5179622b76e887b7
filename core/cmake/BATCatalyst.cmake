# SPDX-License-Identifier: BSD-3-Clause
# Finds libcatalyst, which libcatalyst-bat is checked against. Sets BAT_CATALYST_FOUND.
#
# Nothing is linked with it but tests: libcatalyst-bat finds Conduit in the simulation's process.
set(BAT_CATALYST_FOUND OFF)
if (BAT_WITH_CATALYST STREQUAL "OFF")
  return ()
endif ()
if (BAT_WITH_CATALYST STREQUAL "ON")
  find_package(catalyst 2 REQUIRED)
else ()
  find_package(catalyst 2 QUIET)
endif ()
if (catalyst_FOUND)
  set(BAT_CATALYST_FOUND ON)
  message(STATUS "libcatalyst ${catalyst_VERSION}: libcatalyst-bat is checked against it")
else ()
  message(STATUS "libcatalyst not found: libcatalyst-bat is tested with a stand-in "
    "(BAT_WITH_CATALYST=${BAT_WITH_CATALYST})")
endif ()
