// SPDX-License-Identifier: BSD-3-Clause
// Encodes runs of column values as frames of bytes (FORMAT.md section 18), and decodes them.
// Lossless: every bit of every value is restored. The same values give the same bytes on every
// processor.
#pragma once

#include "codec/column_shape.hpp"
#include "codec/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bat::codec
{
/// Maximum number of values in a frame.
inline constexpr std::size_t kMaxValues = std::size_t{ 1 } << 24;
/// Maximum number of bytes by which a frame exceeds its values.
inline constexpr std::size_t kFrameOverhead = 1;
/// Maximum size of a model in bytes.
inline constexpr std::size_t kMaxModelBytes = std::size_t{ 1 } << 16;

/// How the chunks of a column become frames, chosen from a sample of them. May be used by several
/// threads at once.
class Plan
{
public:
  /// `values` are those of the whole column, which is divided into chunks of `chunk` values; they
  /// need no alignment and are not used after the call. Throws Error{InvalidArgument} for a shape
  /// or chunk size that no frame can have.
  Plan(const ColumnShape& shape, Grid grid, const std::byte* values, std::uint64_t count,
    std::size_t chunk);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// The model that readers of the frames need: at most kMaxModelBytes.
  [[nodiscard]] const std::vector<std::byte>& model() const noexcept;

private:
  friend class Encoder;
  std::unique_ptr<const struct ColumnPlan> plan_;
};

/// Keeps its scratch memory; use one per thread.
class Encoder
{
public:
  Encoder();
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  /// Replaces `frame`, which is at most kFrameOverhead bytes larger than the values. These belong
  /// to the plan's column and need no alignment. Throws Error{InvalidArgument} for a count that no
  /// frame can have.
  void encode(
    const Plan& plan, const std::byte* values, std::size_t count, std::vector<std::byte>& frame);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The model shared by all frames of a column. Several threads may use it at once.
class Model
{
public:
  /// Any bytes are safe: an invalid model throws Error{Corrupt} with a description of the fault.
  /// Allocates at most a few megabytes.
  Model(const ColumnShape& shape, const std::byte* bytes, std::size_t byte_count);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

private:
  friend class Decoder;
  std::unique_ptr<const struct ColumnModel> model_;
};

/// Keeps its scratch memory; use one per thread.
class Decoder
{
public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Writes `count` values, which need no alignment. Any bytes are safe as a frame: one that does
  /// not contain `count` values throws Error{Corrupt} with a description of the fault, after which
  /// the values are unspecified. Never allocates more than a few times the size of the values.
  void decode(const Model& model, const std::byte* frame, std::size_t frame_bytes,
    std::byte* values, std::size_t count);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
