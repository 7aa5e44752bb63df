// Which vocabulary goes with FakeModel? Token i is one character; a few are bytes of characters, ends and controls.
#pragma once

#include <array>
#include <string_view>

#include "engine/token_loop.h"
#include "support/fake_model.h"

namespace ferrox::testing {

inline constexpr int32_t kEndToken = 62;      ///< ends generation, renders as nothing
inline constexpr int32_t kControlToken = 61;  ///< encoded from "<ctl>", renders as nothing

/// 0..25: a..z; 26..29: the four bytes of U+1F600; 30: a lone continuation byte; 31: "ab"; 32: "abc"; others: a digit.
inline std::string_view fake_token_bytes(int32_t id) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static constexpr std::string_view kFace = "\xF0\x9F\x98\x80";
  if (id < 26) return kLetters.substr(static_cast<size_t>(id), 1);
  if (id < 30) return kFace.substr(static_cast<size_t>(id - 26), 1);
  if (id == 30) return "\x80";
  if (id == 31) return "ab";
  if (id == 32) return "abc";
  if (id >= kControlToken) return "";
  return kLetters.substr(26 + static_cast<size_t>(id % 10), 1);
}

inline LoopVocabulary fake_vocabulary() {
  const auto encode = [](std::string_view text) -> std::vector<int32_t> {
    if (text == "<ctl>") return {kControlToken};
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(c >= 'a' && c <= 'z' ? c - 'a' : 40);
    return ids;
  };
  return {FakeModel::kVocab, {kEndToken}, fake_token_bytes, encode};
}

}  // namespace ferrox::testing
