#include "kv/kv_terms.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

/// a + b of numbers that are not negative.
int64_t add(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

/// The most whole pages that a kind still holds of a prompt that has just been computed.
int64_t live_prompt_pages(const KvTerms& terms, int window) {
  if (window == 0) return std::numeric_limits<int64_t>::max();
  return kv_pages_for(int64_t{window} + terms.page_rows, terms.page_rows);
}

}  // namespace

int64_t sliding_bound(const KvTerms& terms, int window) {
  return 2 * (int64_t{window} + kRetainGap) + terms.interval() + 2 * int64_t{terms.page_rows} + terms.max_draft;
}

int64_t held_positions(const KvTerms& terms, int window, int64_t n_prompt, int64_t max_tokens) {
  if (window == kStateKind) return 1;
  const int64_t all = add(n_prompt, max_tokens);
  if (window == 0) return all;
  const int64_t of_prompt = std::min(n_prompt, terms.chunk_rows + window + terms.page_rows);
  return std::min(add(of_prompt, sliding_bound(terms, window) + terms.page_rows), all);
}

std::vector<int64_t> lease_pages(const KvTerms& terms, int64_t n_prompt, int64_t max_tokens) {
  std::vector<int64_t> pages;
  for (const int window : terms.windows) {
    const int64_t held = held_positions(terms, window, n_prompt, max_tokens);
    pages.push_back(std::max<int64_t>(1, kv_pages_for(held, terms.page_rows)));
  }
  return pages;
}

std::vector<int64_t> fork_pages(const KvTerms& terms, int64_t length, int64_t max_tokens) {
  const int64_t n_rest = add(length % terms.page_rows, max_tokens);
  std::vector<int64_t> pages;
  for (const int window : terms.windows) {
    if (window == kStateKind) {
      pages.push_back(1);
      continue;
    }
    const int64_t n_most = window == 0 ? n_rest : sliding_bound(terms, window) + 2 * int64_t{terms.page_rows};
    pages.push_back(std::max<int64_t>(1, kv_pages_for(std::min(n_rest, n_most), terms.page_rows)));
  }
  return pages;
}

std::vector<int64_t> choice_pages(const KvTerms& terms, int64_t n_prompt, int64_t max_tokens, int64_t n_choices) {
  std::vector<int64_t> pages = lease_pages(terms, n_prompt, max_tokens);
  if (n_choices == 1) return pages;
  const std::vector<int64_t> own = fork_pages(terms, n_prompt, max_tokens);
  for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
    const int64_t shared = std::min(n_prompt / terms.page_rows, live_prompt_pages(terms, terms.windows[kind]));
    pages[kind] = std::max(pages[kind], add(shared, own[kind]));
    for (int64_t i = 1; i < n_choices; ++i) pages[kind] = add(pages[kind], own[kind]);
  }
  if (terms.has_state()) pages.back() = n_choices;
  return pages;
}

bool fits_pages(std::span<const int64_t> n, std::span<const int32_t> available) {
  return std::equal(n.begin(), n.end(), available.begin(), available.end(),
                    [](int64_t wanted, int32_t there) { return wanted <= there; });
}

uint64_t bytes_of_pages(const KvTerms& terms, std::span<const int64_t> n) {
  uint64_t bytes = 0;
  for (size_t kind = 0; kind < n.size(); ++kind) {
    bytes = saturating_add(bytes, saturating_mul(static_cast<uint64_t>(n[kind]), terms.page_bytes[kind]));
  }
  return bytes;
}

int64_t longest_request(const KvTerms& terms, int64_t n_prompt, int64_t limit) {
  int64_t fits = 0;
  int64_t too_long = add(limit, 1);
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    const int64_t of_prompt = std::min(n_prompt, middle);
    (fits_pages(lease_pages(terms, of_prompt, middle - of_prompt), terms.n_pages) ? fits : too_long) = middle;
  }
  return fits;
}

}  // namespace ferrox
