// For loops with instructions that the program does not demand: BAT_AVX512 marks functions with
// AVX-512, to be called where processor::has_avx512(). Not defined where no compiler has them.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#ifndef __clang__ // what GCC's own header leaves undefined on purpose (GCC bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define BAT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#endif
