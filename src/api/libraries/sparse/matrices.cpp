// Reading and writing of sparse indices, with checks, and sorting of elements.
#include "libraries/sparse/matrices.h"

namespace warpgrind::libraries::sparse {

bool read_indices(LibraryRun& run, const char* name, const void* at, cusparseIndexType_t type, std::int64_t count,
                  cusparseIndexBase_t base, std::vector<std::int64_t>& out) {
  if (!run.reads(name, at, static_cast<std::size_t>(count) * index_bytes(type))) return false;
  out.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = (type == CUSPARSE_INDEX_64I ? static_cast<const std::int64_t*>(at)[i]
                                         : static_cast<const std::int32_t*>(at)[i]) -
             base;
  return true;
}

bool write_indices(LibraryRun& run, const char* name, void* at, cusparseIndexType_t type, cusparseIndexBase_t base,
                   const std::vector<std::int64_t>& from) {
  if (!run.writes(name, at, from.size() * index_bytes(type))) return false;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (type == CUSPARSE_INDEX_64I)
      static_cast<std::int64_t*>(at)[i] = from[i] + base;
    else
      static_cast<std::int32_t*>(at)[i] = static_cast<std::int32_t>(from[i] + base);
  return true;
}

namespace {

// Row (or column) of each element from the offsets. Checks that they rise from 0 to the number of elements, since they
// bound the accesses.
bool expand(LibraryRun& run, const std::vector<std::int64_t>& offsets, std::int64_t nnz,
            std::vector<std::int64_t>& out) {
  bool right = !offsets.empty() && offsets.front() == 0 && offsets.back() == nnz;
  for (std::size_t i = 0; right && i + 1 < offsets.size(); ++i) right = offsets[i] <= offsets[i + 1];
  if (!right) {
    run.fail("the offsets of the sparse matrix do not rise from its index base to its number of elements");
    return false;
  }
  out.resize(static_cast<std::size_t>(nnz));
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    std::fill(out.begin() + offsets[i], out.begin() + offsets[i + 1], static_cast<std::int64_t>(i));
  return true;
}
bool inside(LibraryRun& run, const std::vector<std::int64_t>& indices, std::int64_t size) {
  for (const std::int64_t i : indices)
    if (i < 0 || i >= size) {
      run.fail(fmt::format("the sparse matrix has index {} (counted from 0), its size is {}", i, size));
      return false;
    }
  return true;
}

}  // namespace

bool read_places(LibraryRun& run, const cusparseSpMatDescr& m, std::vector<std::int64_t>& rows,
                 std::vector<std::int64_t>& columns) {
  if (m.format == CUSPARSE_FORMAT_COO)
    return read_indices(run, "cooRowInd", m.offsets, m.index_type, m.nnz, m.base, rows) &&
           read_indices(run, "cooColInd", m.indices, m.index_type, m.nnz, m.base, columns) &&
           inside(run, rows, m.rows) && inside(run, columns, m.columns);
  const bool by_rows = m.format == CUSPARSE_FORMAT_CSR;
  std::vector<std::int64_t> offsets;
  return read_indices(run, "offsets", m.offsets, m.offset_type, (by_rows ? m.rows : m.columns) + 1, m.base, offsets) &&
         read_indices(run, "indices", m.indices, m.index_type, m.nnz, m.base, by_rows ? columns : rows) &&
         expand(run, offsets, m.nnz, by_rows ? rows : columns) && inside(run, rows, m.rows) &&
         inside(run, columns, m.columns);
}

std::vector<std::int64_t> order_by(const std::vector<std::int64_t>& key, std::int64_t keys,
                                   std::vector<std::int64_t>& begin) {
  begin.assign(static_cast<std::size_t>(keys) + 1, 0);
  for (const std::int64_t k : key) ++begin[static_cast<std::size_t>(k) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1), order(key.size());
  for (std::size_t i = 0; i < key.size(); ++i)
    order[static_cast<std::size_t>(next[static_cast<std::size_t>(key[i])]++)] = static_cast<std::int64_t>(i);
  return order;
}

}  // namespace warpgrind::libraries::sparse
