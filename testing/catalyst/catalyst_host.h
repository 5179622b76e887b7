/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of libcatalyst that test programs call: its own headers if it is installed, else
 * declarations that fit it and the stand-in. */
#ifndef BAT_TESTING_CATALYST_HOST_H
#define BAT_TESTING_CATALYST_HOST_H

#ifdef BAT_TEST_WITH_CATALYST
#include <catalyst.h>
#else

#include <stdint.h>

/* A libcatalyst with an external Conduit has the plain names. */
#ifndef BAT_TEST_PLAIN_CONDUIT
#define conduit_node_create catalyst_conduit_node_create
#define conduit_node_destroy catalyst_conduit_node_destroy
#define conduit_node_fetch catalyst_conduit_node_fetch
#define conduit_node_add_child catalyst_conduit_node_add_child
#define conduit_node_append catalyst_conduit_node_append
#define conduit_node_child catalyst_conduit_node_child
#define conduit_node_child_by_name catalyst_conduit_node_child_by_name
#define conduit_node_remove_child_by_name catalyst_conduit_node_remove_child_by_name
#define conduit_node_number_of_children catalyst_conduit_node_number_of_children
#define conduit_node_has_child catalyst_conduit_node_has_child
#define conduit_node_has_path catalyst_conduit_node_has_path
#define conduit_node_name catalyst_conduit_node_name
#define conduit_node_dtype catalyst_conduit_node_dtype
#define conduit_node_element_ptr catalyst_conduit_node_element_ptr
#define conduit_node_as_char8_str catalyst_conduit_node_as_char8_str
#define conduit_node_fetch_path_as_char8_str catalyst_conduit_node_fetch_path_as_char8_str
#define conduit_node_fetch_path_as_int64 catalyst_conduit_node_fetch_path_as_int64
#define conduit_node_fetch_path_as_float64 catalyst_conduit_node_fetch_path_as_float64
#define conduit_node_set_char8_str catalyst_conduit_node_set_char8_str
#define conduit_node_set_int32 catalyst_conduit_node_set_int32
#define conduit_node_set_int64 catalyst_conduit_node_set_int64
#define conduit_node_set_float64 catalyst_conduit_node_set_float64
#define conduit_node_set_path_char8_str catalyst_conduit_node_set_path_char8_str
#define conduit_node_set_path_int32 catalyst_conduit_node_set_path_int32
#define conduit_node_set_path_int64 catalyst_conduit_node_set_path_int64
#define conduit_node_set_path_float64 catalyst_conduit_node_set_path_float64
#define conduit_datatype_id catalyst_conduit_datatype_id
#define conduit_datatype_number_of_elements catalyst_conduit_datatype_number_of_elements
#define conduit_datatype_stride catalyst_conduit_datatype_stride
#define conduit_datatype_endianness_matches_machine                                                \
  catalyst_conduit_datatype_endianness_matches_machine
#define BAT_EXTERNAL(type) catalyst_conduit_node_set_path_external_##type##_ptr_detailed
#define conduit_node_set_path_external_int8_ptr_detailed BAT_EXTERNAL(int8)
#define conduit_node_set_path_external_int16_ptr_detailed BAT_EXTERNAL(int16)
#define conduit_node_set_path_external_int32_ptr_detailed BAT_EXTERNAL(int32)
#define conduit_node_set_path_external_int64_ptr_detailed BAT_EXTERNAL(int64)
#define conduit_node_set_path_external_uint8_ptr_detailed BAT_EXTERNAL(uint8)
#define conduit_node_set_path_external_uint16_ptr_detailed BAT_EXTERNAL(uint16)
#define conduit_node_set_path_external_uint32_ptr_detailed BAT_EXTERNAL(uint32)
#define conduit_node_set_path_external_uint64_ptr_detailed BAT_EXTERNAL(uint64)
#define conduit_node_set_path_external_float32_ptr_detailed BAT_EXTERNAL(float32)
#define conduit_node_set_path_external_float64_ptr_detailed BAT_EXTERNAL(float64)
#endif

#ifdef __cplusplus
extern "C"
{
#endif

  typedef struct conduit_node_impl conduit_node;
  typedef struct conduit_datatype_impl conduit_datatype;
  typedef int64_t conduit_index_t;

  enum catalyst_status
  {
    catalyst_status_ok = 0,
    catalyst_status_error_no_implementation = 1,
    catalyst_status_error_already_loaded = 2,
    catalyst_status_error_not_found = 3,
    catalyst_status_error_not_catalyst = 4,
    catalyst_status_error_incomplete = 5,
    catalyst_status_error_unsupported_version = 6,
    catalyst_status_of_an_implementation = 0x7fffffff /* its own begin at 100 */
  };

  enum catalyst_status catalyst_initialize(const conduit_node* params);
  enum catalyst_status catalyst_execute(const conduit_node* params);
  enum catalyst_status catalyst_finalize(const conduit_node* params);
  enum catalyst_status catalyst_about(conduit_node* params);
  enum catalyst_status catalyst_results(conduit_node* params);

  conduit_node* conduit_node_create(void);
  void conduit_node_destroy(conduit_node* node);
  conduit_node* conduit_node_fetch(conduit_node* node, const char* path);
  conduit_node* conduit_node_add_child(conduit_node* node, const char* name);
  conduit_node* conduit_node_append(conduit_node* node);
  conduit_node* conduit_node_child(conduit_node* node, conduit_index_t i);
  conduit_node* conduit_node_child_by_name(conduit_node* node, const char* name);
  void conduit_node_remove_child_by_name(conduit_node* node, const char* name);
  conduit_index_t conduit_node_number_of_children(conduit_node* node);
  int conduit_node_has_child(const conduit_node* node, const char* name);
  int conduit_node_has_path(const conduit_node* node, const char* path);
  char* conduit_node_name(const conduit_node* node);
  const conduit_datatype* conduit_node_dtype(const conduit_node* node);
  void* conduit_node_element_ptr(conduit_node* node, conduit_index_t i);
  char* conduit_node_as_char8_str(conduit_node* node);
  char* conduit_node_fetch_path_as_char8_str(conduit_node* node, const char* path);
  int64_t conduit_node_fetch_path_as_int64(conduit_node* node, const char* path);
  double conduit_node_fetch_path_as_float64(conduit_node* node, const char* path);
  void conduit_node_set_char8_str(conduit_node* node, const char* text);
  void conduit_node_set_int32(conduit_node* node, int32_t value);
  void conduit_node_set_int64(conduit_node* node, int64_t value);
  void conduit_node_set_float64(conduit_node* node, double value);
  void conduit_node_set_path_char8_str(conduit_node* node, const char* path, const char* text);
  void conduit_node_set_path_int32(conduit_node* node, const char* path, int32_t value);
  void conduit_node_set_path_int64(conduit_node* node, const char* path, int64_t value);
  void conduit_node_set_path_float64(conduit_node* node, const char* path, double value);
  conduit_index_t conduit_datatype_id(const conduit_datatype* type);
  conduit_index_t conduit_datatype_number_of_elements(const conduit_datatype* type);
  conduit_index_t conduit_datatype_stride(const conduit_datatype* type);
  int conduit_datatype_endianness_matches_machine(const conduit_datatype* type);

/* An array that remains the caller's. */
#define BAT_DECLARE_EXTERNAL(name, type)                                                           \
  void conduit_node_set_path_external_##name##_ptr_detailed(conduit_node* node, const char* path,  \
    type* data, conduit_index_t count, conduit_index_t offset, conduit_index_t stride,             \
    conduit_index_t element_bytes, conduit_index_t endianness);
  BAT_DECLARE_EXTERNAL(int8, int8_t)
  BAT_DECLARE_EXTERNAL(int16, int16_t)
  BAT_DECLARE_EXTERNAL(int32, int32_t)
  BAT_DECLARE_EXTERNAL(int64, int64_t)
  BAT_DECLARE_EXTERNAL(uint8, uint8_t)
  BAT_DECLARE_EXTERNAL(uint16, uint16_t)
  BAT_DECLARE_EXTERNAL(uint32, uint32_t)
  BAT_DECLARE_EXTERNAL(uint64, uint64_t)
  BAT_DECLARE_EXTERNAL(float32, float)
  BAT_DECLARE_EXTERNAL(float64, double)
#undef BAT_DECLARE_EXTERNAL

#ifdef __cplusplus
}
#endif

/* Conduit's byte orders. */
enum
{
  CONDUIT_ENDIANNESS_DEFAULT_ID = 0,
  CONDUIT_ENDIANNESS_BIG_ID = 1
};

#endif
#endif
