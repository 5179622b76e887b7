/* SPDX-License-Identifier: BSD-3-Clause */
/* A C program in a project that has found ParaBAT. */
#include "bat/bat.h"

#include <stdio.h>

int main(void)
{
  printf("%s\n", bat_version());
  return 0;
}
