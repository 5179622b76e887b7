/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for C test programs. A failed check is printed and counted, but does not end the
 * program. */
#ifndef BAT_TESTING_CHECK_H
#define BAT_TESTING_CHECK_H

#include "bat/bat.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                           \
  do                                                                                               \
  {                                                                                                \
    if (!(condition))                                                                              \
    {                                                                                              \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#define CHECK_OK(call)                                                                             \
  do                                                                                               \
  {                                                                                                \
    const int check_status = (call);                                                               \
    if (check_status != BAT_OK)                                                                    \
    {                                                                                              \
      fprintf(                                                                                     \
        stderr, "%s:%d: %s: %d: %s\n", __FILE__, __LINE__, #call, check_status, bat_last_error()); \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

/* Checks that a call fails with a status, and that its text contains a word. */
#define CHECK_FAILS(call, expected, word)                                                          \
  do                                                                                               \
  {                                                                                                \
    const int check_status = (call);                                                               \
    if (check_status != (expected) || !strstr(bat_last_error(), word))                             \
    {                                                                                              \
      fprintf(stderr, "%s:%d: %s: status %d, wanted %d; text '%s', wanted '%s'\n", __FILE__,       \
        __LINE__, #call, check_status, (expected), bat_last_error(), word);                        \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#endif
