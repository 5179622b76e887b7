# SPDX-License-Identifier: BSD-3-Clause
# Compiler settings that all of our own targets use: link bat_settings PRIVATE.
add_library(bat_settings INTERFACE)
target_compile_options(bat_settings INTERFACE -Wall -Wextra
  # FORMAT.md section 2: formulas are evaluated without fused multiply-add.
  -ffp-contract=off)
if (BAT_STRICT_BUILD)
  target_compile_options(bat_settings INTERFACE -Werror)
endif ()
if (BAT_SANITIZER)
  target_compile_options(bat_settings INTERFACE
    -fsanitize=${BAT_SANITIZER} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if (CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # vptr opens pipes, which fails in tests that use up all descriptors. function rejects calls through the C types of
    # functions in C++, and pointer-overflow offsets from the null pointers of empty arrays.
    target_compile_options(bat_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr,function>
      -fno-sanitize=pointer-overflow)
    # Programs in C also link libraries in C++.
    target_link_options(bat_settings INTERFACE -fsanitize-link-c++-runtime)
    target_link_libraries(bat_settings INTERFACE stdc++)
  endif ()
  target_link_options(bat_settings INTERFACE -fsanitize=${BAT_SANITIZER})
endif ()
