// SPDX-License-Identifier: BSD-3-Clause
// The part of Conduit's C interface that the tests and libcatalyst-bat use. Like Conduit, it ends
// the process on reading a missing node.
#include "catalyst_host.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{
enum Id : std::int64_t
{
  Empty = 0,
  Object = 1,
  List = 2,
  Int8 = 3,
  Int16 = 4,
  Int32 = 5,
  Int64 = 6,
  UInt8 = 7,
  UInt16 = 8,
  UInt32 = 9,
  UInt64 = 10,
  Float32 = 11,
  Float64 = 12,
  Char8Str = 13
};

struct TreeNode
{
  std::string name;
  TreeNode* parent = nullptr;
  std::int64_t id = Empty;
  std::vector<std::unique_ptr<TreeNode>> children;
  std::vector<char> own; // unless the values are the caller's
  void* data = nullptr;
  std::int64_t count = 0;
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  std::int64_t endianness = CONDUIT_ENDIANNESS_DEFAULT_ID;
};

[[noreturn]] void end(const char* what, const std::string& name)
{
  std::fprintf(stderr, "Conduit: %s: %s\n", what, name.c_str());
  std::abort();
}

TreeNode* tree(const void* node)
{
  if (!node)
  {
    end("a node is null", "");
  }
  return static_cast<TreeNode*>(const_cast<void*>(node));
}

conduit_node* handle(TreeNode* node)
{
  return reinterpret_cast<conduit_node*>(node);
}

TreeNode* find_child(const TreeNode* node, const std::string& name)
{
  for (const auto& child : node->children)
  {
    if (node->id == Object && child->name == name)
    {
      return child.get();
    }
  }
  return nullptr;
}

TreeNode* add_child(TreeNode* node, std::int64_t id, const std::string& name)
{
  if (node->id != id)
  {
    *node = TreeNode{ node->name, node->parent, id, {}, {}, nullptr, 0, 0, 0, 0 };
  }
  node->children.push_back(std::make_unique<TreeNode>());
  node->children.back()->name = name;
  node->children.back()->parent = node;
  return node->children.back().get();
}

// As in Conduit, ".." is the parent; only conduit_node_add_child takes any name literally.
TreeNode* walk(TreeNode* node, const std::string& path, bool make)
{
  const std::size_t slash = path.find('/');
  const std::string name = path.substr(0, slash);
  if (name == ".." && !node->parent)
  {
    end("no parent", path);
  }
  TreeNode* child = name == ".." ? node->parent : find_child(node, name);
  if (!child && make)
  {
    child = add_child(node, Object, name);
  }
  return !child || slash == std::string::npos ? child : walk(child, path.substr(slash + 1), make);
}

TreeNode* existing(TreeNode* node, const char* path)
{
  TreeNode* found = walk(node, path, false);
  if (!found)
  {
    end("no such path", path);
  }
  return found;
}

void set_leaf(
  TreeNode* node, std::int64_t id, const void* value, std::size_t size, std::int64_t stride)
{
  *node = TreeNode{ node->name, node->parent, id, {}, {}, nullptr, 0, 0, 0, 0 };
  node->own.assign(static_cast<const char*>(value), static_cast<const char*>(value) + size);
  node->data = node->own.data();
  node->stride = stride;
  node->count = static_cast<std::int64_t>(size) / stride;
}

void set_external(TreeNode* node, std::int64_t id, void* data, std::int64_t count,
  std::int64_t offset, std::int64_t stride, std::int64_t endianness)
{
  *node = TreeNode{ node->name, node->parent, id, {}, {}, data, count, offset, stride, endianness };
}

template <class T>
T scalar(TreeNode* node, std::int64_t id, const char* path)
{
  if (node->id != id || node->count != 1)
  {
    end("array type differs", path);
  }
  T value;
  std::memcpy(&value, static_cast<char*>(node->data) + node->offset, sizeof(T));
  return value;
}
}

extern "C"
{
  conduit_node* conduit_node_create(void)
  {
    return handle(new TreeNode);
  }
  void conduit_node_destroy(conduit_node* node)
  {
    delete tree(node);
  }

  conduit_node* conduit_node_fetch(conduit_node* node, const char* path)
  {
    return handle(walk(tree(node), path, true));
  }
  conduit_node* conduit_node_add_child(conduit_node* node, const char* name)
  {
    TreeNode* found = find_child(tree(node), name);
    return handle(found ? found : add_child(tree(node), Object, name));
  }
  conduit_node* conduit_node_append(conduit_node* node)
  {
    return handle(add_child(tree(node), List, ""));
  }
  conduit_node* conduit_node_child(conduit_node* node, conduit_index_t i)
  {
    TreeNode* parent = tree(node);
    if (i < 0 || i >= static_cast<conduit_index_t>(parent->children.size()))
    {
      end("no such child", std::to_string(i));
    }
    return handle(parent->children[static_cast<std::size_t>(i)].get());
  }
  conduit_node* conduit_node_child_by_name(conduit_node* node, const char* name)
  {
    TreeNode* child = find_child(tree(node), name);
    if (!child)
    {
      end("no such child", name);
    }
    return handle(child);
  }
  void conduit_node_remove_child_by_name(conduit_node* node, const char* name)
  {
    TreeNode* parent = tree(node);
    for (auto child = parent->children.begin(); child != parent->children.end(); ++child)
    {
      if ((*child)->name == name)
      {
        parent->children.erase(child);
        return;
      }
    }
    end("no such child", name);
  }
  conduit_index_t conduit_node_number_of_children(conduit_node* node)
  {
    return static_cast<conduit_index_t>(tree(node)->children.size());
  }
  int conduit_node_has_child(const conduit_node* node, const char* name)
  {
    return find_child(tree(node), name) ? 1 : 0;
  }
  int conduit_node_has_path(const conduit_node* node, const char* path)
  {
    return walk(tree(node), path, false) ? 1 : 0;
  }
  char* conduit_node_name(const conduit_node* node)
  {
    return ::strdup(tree(node)->name.c_str());
  }
  const conduit_datatype* conduit_node_dtype(const conduit_node* node)
  {
    return reinterpret_cast<const conduit_datatype*>(node);
  }
  void* conduit_node_element_ptr(conduit_node* node, conduit_index_t i)
  {
    const TreeNode* leaf = tree(node);
    const auto first = reinterpret_cast<std::uintptr_t>(leaf->data);
    return reinterpret_cast<void*>(
      first + static_cast<std::uintptr_t>(leaf->offset + i * leaf->stride));
  }

  char* conduit_node_as_char8_str(conduit_node* node)
  {
    TreeNode* leaf = tree(node);
    return leaf->id == Char8Str ? static_cast<char*>(leaf->data) : nullptr;
  }
  char* conduit_node_fetch_path_as_char8_str(conduit_node* node, const char* path)
  {
    return conduit_node_as_char8_str(handle(existing(tree(node), path)));
  }
  int64_t conduit_node_fetch_path_as_int64(conduit_node* node, const char* path)
  {
    return scalar<int64_t>(existing(tree(node), path), Int64, path);
  }
  double conduit_node_fetch_path_as_float64(conduit_node* node, const char* path)
  {
    return scalar<double>(existing(tree(node), path), Float64, path);
  }

  void conduit_node_set_char8_str(conduit_node* node, const char* text)
  {
    set_leaf(tree(node), Char8Str, text, std::strlen(text) + 1, 1);
  }
  void conduit_node_set_int32(conduit_node* node, int32_t value)
  {
    set_leaf(tree(node), Int32, &value, sizeof(value), sizeof(value));
  }
  void conduit_node_set_int64(conduit_node* node, int64_t value)
  {
    set_leaf(tree(node), Int64, &value, sizeof(value), sizeof(value));
  }
  void conduit_node_set_float64(conduit_node* node, double value)
  {
    set_leaf(tree(node), Float64, &value, sizeof(value), sizeof(value));
  }
  void conduit_node_set_path_char8_str(conduit_node* node, const char* path, const char* text)
  {
    conduit_node_set_char8_str(conduit_node_fetch(node, path), text);
  }
  void conduit_node_set_path_int32(conduit_node* node, const char* path, int32_t value)
  {
    conduit_node_set_int32(conduit_node_fetch(node, path), value);
  }
  void conduit_node_set_path_int64(conduit_node* node, const char* path, int64_t value)
  {
    conduit_node_set_int64(conduit_node_fetch(node, path), value);
  }
  void conduit_node_set_path_float64(conduit_node* node, const char* path, double value)
  {
    conduit_node_set_float64(conduit_node_fetch(node, path), value);
  }

  conduit_index_t conduit_datatype_id(const conduit_datatype* type)
  {
    return tree(type)->id;
  }
  conduit_index_t conduit_datatype_number_of_elements(const conduit_datatype* type)
  {
    return tree(type)->count;
  }
  conduit_index_t conduit_datatype_stride(const conduit_datatype* type)
  {
    return tree(type)->stride;
  }
  int conduit_datatype_endianness_matches_machine(const conduit_datatype* type)
  {
    return tree(type)->endianness != CONDUIT_ENDIANNESS_BIG_ID;
  }

#define BAT_DEFINE_EXTERNAL(name, type, id)                                                        \
  void conduit_node_set_path_external_##name##_ptr_detailed(conduit_node* node, const char* path,  \
    type* data, conduit_index_t count, conduit_index_t offset, conduit_index_t stride,             \
    conduit_index_t, conduit_index_t endianness)                                                   \
  {                                                                                                \
    set_external(                                                                                  \
      tree(conduit_node_fetch(node, path)), id, data, count, offset, stride, endianness);          \
  }
  BAT_DEFINE_EXTERNAL(int8, int8_t, Int8)
  BAT_DEFINE_EXTERNAL(int16, int16_t, Int16)
  BAT_DEFINE_EXTERNAL(int32, int32_t, Int32)
  BAT_DEFINE_EXTERNAL(int64, int64_t, Int64)
  BAT_DEFINE_EXTERNAL(uint8, uint8_t, UInt8)
  BAT_DEFINE_EXTERNAL(uint16, uint16_t, UInt16)
  BAT_DEFINE_EXTERNAL(uint32, uint32_t, UInt32)
  BAT_DEFINE_EXTERNAL(uint64, uint64_t, UInt64)
  BAT_DEFINE_EXTERNAL(float32, float, Float32)
  BAT_DEFINE_EXTERNAL(float64, double, Float64)
}
