// How do rows that were kept elsewhere come back? Pages are taken for what the tree lacks, filled, and given to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kv/prefix_cache.h"

namespace ferrox {

/// A page that lets a request go on behind some tokens.
struct PrefixGap {
  int kind;      ///< the last one of terms with states: the state after all of the tokens
  int64_t page;  ///< of the tokens'; of a state: the one that the last of them lies in
};

/// What of a sequence is to come back.
enum class PrefixExtent {
  kFullKinds,  ///< rows that are kept for every position
  kAll,        ///< window rows and the state as well, so that a request can go on behind the last token
};

/// The first page of a sliding kind that a request behind n tokens reads; those before may be gone.
int64_t first_page_read(const KvTerms& terms, size_t kind, int64_t n);

/// All pages that a request behind n tokens needs; full kinds first, from the first page on.
std::vector<PrefixGap> pages_behind(const KvTerms& terms, int64_t n, PrefixExtent extent = PrefixExtent::kAll);

/// What the tree lacks of `tokens`; full kinds first, from the first page on.
std::vector<PrefixGap> prefix_gaps(const PrefixCache& cache, std::string_view space, std::span<const int32_t> tokens,
                                   PrefixExtent extent);

/// Fills gaps. What it isn't told to keep leaves no trace but the room that was made.
class PrefixImport {
 public:
  /// Takes a page for each gap (prefix_gaps of the same cache, space and tokens, with nothing in between). Between that
  /// and keep() others may use the cache. `space` and `tokens` must be there until keep(), not for the destructor.
  PrefixImport(PrefixCache& cache, std::string_view space, std::span<const int32_t> tokens,
               std::span<const PrefixGap> gaps);
  ~PrefixImport();
  PrefixImport(const PrefixImport&) = delete;
  PrefixImport& operator=(const PrefixImport&) = delete;

  /// False: there is no room, and nothing was taken.
  bool has_pages() const { return has_pages_; }

  /// The page of gaps[i], to be filled.
  std::vector<std::span<std::byte>> bytes_of(size_t i) const;

  /// All pages are filled: the tree has them from now on.
  void keep();

 private:
  PrefixCache& cache_;
  std::string_view space_;
  std::span<const int32_t> tokens_;
  std::vector<PrefixGap> gaps_;
  KeptPrefix kept_;
  PrefixCache::Hold hold_;
  std::vector<std::vector<int32_t>> taken_;  ///< [kind], in the order of gaps
  std::vector<int32_t> page_of_gap_;
  bool has_pages_;
};

}  // namespace ferrox
