// SPDX-License-Identifier: BSD-3-Clause
// Checks positions and the boxes around them: blocks, treelets, nodes, and the file's own.
#include "particles/validate/validate_leaf.hpp"

#include "common/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat
{
namespace
{
using format::corrupt;
using format::SectionKind;

// Returns whether a treelet may have particles that are not finite.
bool is_flagged(const SpatialIndex& spatial, std::size_t t)
{
  return (spatial.treelets[t].flags & format::kNonFinite) != 0;
}

class PositionCheck
{
public:
  explicit PositionCheck(const LeafParticles& particles)
    : particles_(particles)
    , file_(particles.file())
    , impl_(particles.impl())
    , source_(particles.source())
  {
  }

  void run() const
  {
    dispatch(this->file_.position_type(),
      [&](auto value)
      {
        using T = decltype(value);
        if constexpr (std::is_floating_point_v<T>)
        {
          this->check_positions_of<T>();
        }
      });
  }

private:
  template <class T>
  void check_positions_of() const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    const std::uint32_t size = this->impl_.schema.head.block_particles;
    const auto boxes = this->particles_.read<format::BlockBoxRecord>(
      SectionKind::BlockBoxes, 0, this->file_.block_count());

    this->check_flagged_block_boxes(boxes);
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Box nothing{ { inf, inf, inf }, { -inf, -inf, -inf } };
    Box bounds = nothing;
    Box tight = nothing;
    const std::vector<T> column = this->particles_.read_column<T>(SectionKind::Positions, 0, 3);
    this->particles_.for_each_particle(
      column, 3, [&](std::size_t) { tight = nothing; },
      [&](std::size_t t, std::uint64_t i, const T* p)
      {
        if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]))
        {
          if (!is_flagged(spatial, t))
          {
            corrupt(this->source_,
              fmt::format("treelet {} has a particle that is not finite but is not marked so", t));
          }
          return;
        }
        const format::NodeRecord& node = spatial.nodes[spatial.leaf_nodes[t]];
        const std::uint64_t block = spatial.first_block[t] + i / size;
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          const auto x = static_cast<double>(p[axis]);
          const double a = node.lower[axis];
          const double b = node.upper[axis];
          tight.lower[axis] = std::min(tight.lower[axis], x);
          tight.upper[axis] = std::max(tight.upper[axis], x);
          if (!is_flagged(spatial, t) &&
            (x < format::block_coordinate(a, b, boxes[block].lower[axis]) ||
              x > format::block_coordinate(a, b, boxes[block].upper[axis])))
          {
            corrupt(this->source_, fmt::format("block {} has a particle outside its box", block));
          }
        }
      },
      [&](std::size_t t) { this->end_treelet(t, tight, bounds); });
    this->check_schema_bounds(bounds);
    this->check_node_boxes();
    if (format::find_section(this->impl_.sections, SectionKind::Aliases))
    {
      this->check_position_keys(column);
    }
  }

  // Checks that a treelet fills its box, which is `tight` around its particles.
  void end_treelet(std::size_t t, const Box& tight, Box& bounds) const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    const format::NodeRecord& node = spatial.nodes[spatial.leaf_nodes[t]];
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      bounds.lower[axis] = std::min(bounds.lower[axis], tight.lower[axis]);
      bounds.upper[axis] = std::max(bounds.upper[axis], tight.upper[axis]);
      if (!is_flagged(spatial, t) &&
        (tight.lower[axis] != node.lower[axis] || tight.upper[axis] != node.upper[axis]))
      {
        corrupt(this->source_, fmt::format("treelet {} does not fill its box", t));
      }
    }
  }

  void check_schema_bounds(const Box& bounds) const
  {
    const format::SchemaHead& head = this->impl_.schema.head;
    if (!std::equal(head.lower, head.lower + 3, bounds.lower.begin()) ||
      !std::equal(head.upper, head.upper + 3, bounds.upper.begin()))
    {
      corrupt(this->source_, "SCHEMA: the bounds do not match the particles");
    }
  }

  template <class T>
  void check_position_keys(const std::vector<T>& column) const
  {
    for (std::size_t k = 0; k != format::kPositionKeys; ++k)
    {
      double minimum = std::numeric_limits<double>::infinity();
      double maximum = -minimum;
      bool has_nan = false;
      for (std::size_t i = 0; i != column.size(); i += 3)
      {
        const double v = k == 3 ? magnitude(&column[i], 3) : static_cast<double>(column[i + k]);
        minimum = v < minimum ? v : minimum;
        maximum = v > maximum ? v : maximum;
        has_nan = has_nan || std::isnan(v);
      }
      const format::LeafKeyRecord& record = this->impl_.schema.position_keys[k];
      if (from_bits<double>(record.minimum) != minimum ||
        from_bits<double>(record.maximum) != maximum ||
        ((record.flags & format::kHasNaN) != 0) != has_nan)
      {
        corrupt(this->source_,
          fmt::format(
            "ALIASES: the minimum, maximum or NaN mark of position key {} does not match its "
            "values",
            k));
      }
    }
  }

  // Boxes without information have fixed values.
  void check_flagged_block_boxes(const std::vector<format::BlockBoxRecord>& boxes) const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    for (std::size_t t = 0; t != spatial.treelets.size(); ++t)
    {
      if ((spatial.treelets[t].flags & format::kNonFinite) == 0)
      {
        continue;
      }
      for (std::uint64_t b = spatial.first_block[t]; b != spatial.first_block[t + 1]; ++b)
      {
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          if (boxes[b].lower[axis] != 0 || boxes[b].upper[axis] != 255)
          {
            corrupt(this->source_,
              fmt::format("BLOCK_BOXES: block {} of treelet {}, which may contain particles that "
                          "are not finite, has {} to {} on the {} axis; expected 0 to 255",
                b, t, boxes[b].lower[axis], boxes[b].upper[axis], "xyz"[axis]));
          }
        }
      }
    }
  }

  void check_node_boxes() const
  {
    const std::vector<format::NodeRecord>& nodes = this->impl_.spatial_index().nodes;
    for (std::size_t i = 0; i != nodes.size(); ++i)
    {
      if (nodes[i].skip == i + 1)
      {
        continue;
      }
      const format::NodeRecord& left = nodes[i + 1];
      const format::NodeRecord& right = nodes[left.skip];
      for (int axis = 0; axis != 3; ++axis)
      {
        if (nodes[i].lower[axis] != std::min(left.lower[axis], right.lower[axis]) ||
          nodes[i].upper[axis] != std::max(left.upper[axis], right.upper[axis]))
        {
          corrupt(this->source_,
            fmt::format("SHALLOW_TREE: the box of node {} does not match its children", i));
        }
      }
    }
  }

  const LeafParticles& particles_;
  const File& file_;
  const File::Impl& impl_;
  const io::RandomAccessFile& source_;
};
}

void check_positions(const LeafParticles& particles)
{
  PositionCheck(particles).run();
}
}
