// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/shallow_tree.hpp"

#include "particles/tree/bounds.hpp"
#include "particles/write/morton.hpp"

#include <cmath>

namespace bat::write
{
namespace
{
class ShallowTreeBuilder
{
public:
  ShallowTreeBuilder(const std::vector<Box>& boxes, const Box& bounds)
    : boxes_(boxes)
  {
    const MortonGrid grid(bounds);
    this->codes_.reserve(boxes.size());
    for (const Box& box : boxes)
    {
      std::array<double, 3> middle;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        middle[axis] = box.lower[axis] * 0.5 + box.upper[axis] * 0.5;
      }
      const bool finite = std::isfinite(box.lower[0]) && std::isfinite(box.upper[0]);
      this->codes_.push_back(finite ? grid.code(middle) : ~std::uint64_t{ 0 });
    }
  }

  std::vector<format::NodeRecord> run()
  {
    if (!this->boxes_.empty())
    {
      this->nodes_.reserve(2 * this->boxes_.size() - 1);
      this->add(0, this->boxes_.size(), 63);
    }
    return std::move(this->nodes_);
  }

private:
  Box add(std::size_t begin, std::size_t end, int bit)
  {
    const std::size_t node = this->nodes_.size();
    this->nodes_.emplace_back();
    Box box;
    if (end - begin == 1)
    {
      box = this->boxes_[begin];
    }
    else
    {
      const std::size_t split = this->split(begin, end, bit);
      box = this->add(begin, split, bit);
      extend(box, this->add(split, end, bit));
    }
    format::NodeRecord& record = this->nodes_[node];
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      record.lower[axis] = box.lower[axis];
      record.upper[axis] = box.upper[axis];
    }
    record.first_treelet = static_cast<std::uint32_t>(begin);
    record.skip = static_cast<std::uint32_t>(this->nodes_.size());
    return box;
  }

  // Splits where the highest differing bit of the codes changes (Karras), if both sides get at
  // least an eighth. Otherwise splits in the middle, so that the depth stays logarithmic.
  std::size_t split(std::size_t begin, std::size_t end, int& bit) const
  {
    const std::size_t minimum = (end - begin) / 8;
    for (; bit >= 0; --bit)
    {
      std::size_t split = begin;
      while (split != end && (this->codes_[split] >> bit & 1) == 0)
      {
        ++split;
      }
      if (split != begin && split != end)
      {
        if (split - begin >= minimum && end - split >= minimum)
        {
          return split;
        }
        break;
      }
    }
    return begin + (end - begin) / 2;
  }

  const std::vector<Box>& boxes_;
  std::vector<std::uint64_t> codes_;
  std::vector<format::NodeRecord> nodes_;
};
}

std::vector<format::NodeRecord> shallow_tree(const std::vector<Box>& boxes, const Box& bounds)
{
  return ShallowTreeBuilder(boxes, bounds).run();
}
}
