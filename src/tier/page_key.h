// Which prefix does a stored page belong to? A chain of SHA-256 names the model, the namespace and every token so far.
//
//   root = H(model, namespace)     key of page 0 = H(root, its tokens)     key of page 1 = H(key of page 0, its tokens)
//
// A recurrent state lies at a page's end or inside the next page: H'(key of that page, the tokens past its end).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ferrox {

struct PageKey {
  std::array<uint8_t, 32> bytes{};
  friend bool operator==(const PageKey&, const PageKey&) = default;
};

/// For hash tables: bytes of a SHA-256 are as good as random.
uint64_t short_hash(const PageKey& key);

/// The key of no tokens at all: what every prefix of one model (its weights, its layout) and one namespace begins with.
PageKey root_key(std::span<const std::byte> model, std::span<const std::byte> name_space);

/// The key of one more page of tokens past `parent`.
PageKey next_key(const PageKey& parent, std::span<const int32_t> tokens);

/// The key of a state `tokens` past the end of `parent`'s page (none: at its end).
PageKey state_key(const PageKey& parent, std::span<const int32_t> tokens);

/// 64 hexadecimal digits in lower case, and back; anything else is nothing.
std::string to_hex(const PageKey& key);
std::optional<PageKey> parse_page_key(std::string_view hex);

}  // namespace ferrox
