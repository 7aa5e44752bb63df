// What do the tiers' tests store? Small pages whose bytes follow from their key and part, so that each load can be
// judged.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "tier/entry_file.h"
#include "tier/prefix_tiers.h"

namespace ferrox::testing {

inline PageKey test_root(std::string_view name_space = "") {
  return root_key({}, std::as_bytes(std::span(name_space.data(), name_space.size())));
}

/// Two attention kinds and a state.
inline TierLayout small_layout() { return {.model = test_root("model"), .page_rows = 4, .part_bytes = {96, 40, 24}}; }
inline constexpr PartMask kBothKinds = 3;
inline constexpr PartMask kStatePart = 4;

/// An entry's name, with tokens of its own.
struct TestEntry {
  EntryKind kind;
  PageKey key;
  PageKey parent;
  std::vector<int32_t> tokens;
  int64_t n_before = 0;
  EntryName name() const { return {kind, key, parent, tokens, n_before}; }
};

inline TestEntry page_after(const PageKey& parent, std::vector<int32_t> tokens) {
  return {EntryKind::kPage, next_key(parent, tokens), parent, tokens, 0};
}
inline TestEntry page_after(const PageKey& parent, int32_t seed) {
  return page_after(parent, std::vector<int32_t>{seed, seed + 1, seed + 2, seed + 3});
}
inline TestEntry state_after(const PageKey& parent, std::vector<int32_t> tokens) {
  return {EntryKind::kState, state_key(parent, tokens), parent, tokens, 0};
}

/// Pages 0, 1, ... of one prompt.
inline std::vector<TestEntry> chain_of(const PageKey& root, int32_t seed, int n_pages) {
  std::vector<TestEntry> out;
  for (int i = 0; i < n_pages; ++i) {
    out.push_back(page_after(i == 0 ? root : out.back().key, 1'000 * seed + 10 * i));
    out.back().n_before = 4 * i;
  }
  return out;
}
inline std::vector<PageKey> keys_of(std::span<const TestEntry> entries) {
  std::vector<PageKey> out;
  for (const TestEntry& entry : entries) out.push_back(entry.key);
  return out;
}

/// The bytes of one part of the entry of a key.
inline std::vector<std::byte> bytes_of_part(const TierLayout& layout, const PageKey& key, int part) {
  std::vector<std::byte> out(layout.part_bytes[static_cast<size_t>(part)]);
  std::minstd_rand random(static_cast<uint32_t>(short_hash(key)) + static_cast<uint32_t>(part));
  for (std::byte& byte : out) byte = static_cast<std::byte>(random() >> 8);
  return out;
}

/// The parts of a mask in memory, each in pieces of uneven sizes (an empty one as well).
class Parts {
 public:
  Parts(const TierLayout& layout, PartMask mask) : mask_(mask) {
    for (int part = 0; part < layout.n_parts(); ++part) {
      bytes_.emplace_back(layout.part_bytes[static_cast<size_t>(part)]);
      const std::span<std::byte> all(bytes_.back());
      const size_t cut = all.size() / 3;
      pieces_.push_back({all.first(cut), all.subspan(cut, 0), all.subspan(cut)});
      constant_.emplace_back(pieces_.back().begin(), pieces_.back().end());
    }
  }
  Parts(const TierLayout& layout, PartMask mask, const PageKey& key) : Parts(layout, mask) {
    for (size_t part = 0; part < bytes_.size(); ++part) {
      const auto filled = bytes_of_part(layout, key, static_cast<int>(part));
      std::memcpy(bytes_[part].data(), filled.data(), filled.size());
    }
  }

  /// Pieces point into it: moving keeps them, copying wouldn't.
  Parts(Parts&&) = default;
  Parts& operator=(Parts&&) = default;

  std::vector<PartSource> sources() const { return list<PartSource>(constant_); }
  std::vector<PartTarget> targets() const { return list<PartTarget>(pieces_); }
  const std::vector<std::byte>& part(int i) const { return bytes_[static_cast<size_t>(i)]; }

  /// Whether these are the bytes of a key.
  bool are_of(const TierLayout& layout, const PageKey& key) const {
    for (int i = 0; i < layout.n_parts(); ++i) {
      if ((mask_ >> i & 1) != 0 && part(i) != bytes_of_part(layout, key, i)) return false;
    }
    return true;
  }

 private:
  template <class Part, class Pieces>
  std::vector<Part> list(const Pieces& pieces) const {
    std::vector<Part> out;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if ((mask_ >> i & 1) != 0) out.push_back({static_cast<int>(i), pieces[i]});
    }
    return out;
  }

  PartMask mask_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::vector<std::span<std::byte>>> pieces_;
  std::vector<std::vector<std::span<const std::byte>>> constant_;
};

inline std::shared_ptr<const TierEntry> entry_of(const TierLayout& layout, const TestEntry& entry, PartMask mask) {
  return std::make_shared<const TierEntry>(layout, entry.name(), Parts(layout, mask, entry.key).sources());
}

inline PutOutcome put(PrefixTiers& tiers, const TestEntry& entry, PartMask mask = kBothKinds) {
  return tiers.put(entry.name(), Parts(tiers.layout(), mask, entry.key).sources());
}

/// Loads one entry. What is said to be good is.
inline LoadOutcome load(PrefixTiers& tiers, const TestEntry& entry, PartMask mask = kBothKinds) {
  ThreadPool pool(1);
  const Parts parts(tiers.layout(), mask);
  const auto targets = parts.targets();
  LoadRequest request{.key = entry.key, .parts = targets};
  tiers.load(std::span(&request, 1), pool);
  if (request.outcome == LoadOutcome::kGood) {
    EXPECT_TRUE(parts.are_of(tiers.layout(), entry.key)) << to_hex(entry.key);
  }
  return request.outcome;
}

}  // namespace ferrox::testing
