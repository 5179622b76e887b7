// SPDX-License-Identifier: BSD-3-Clause
#include "particles/dataset/top_file.hpp"

#include <utility>

namespace bat
{
TopFile::TopFile(std::unique_ptr<io::RandomAccessFile> opened)
  : source(std::move(opened))
  , header(format::read_header(*this->source, format::FileKind::Top))
  , sections(format::read_sections(*this->source, this->header, format::FileKind::Top))
  , schema(format::read_schema(*this->source, this->header, this->sections, format::FileKind::Top))
{
}

const format::LeafFiles& TopFile::leaf_files() const
{
  std::call_once(this->loaded_,
    [this]
    {
      this->leaf_files_ =
        format::read_leaf_files(*this->source, this->header, this->sections, this->schema);
    });
  return this->leaf_files_;
}
}
