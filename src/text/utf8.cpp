// What stands at the front of a byte string: a whole UTF-8 character, the beginning of one, or neither?
#include "text/utf8.h"

#include <cstdint>
#include <cstring>

namespace ferrox {
namespace {

struct LeadByte {
  size_t length;              // of the whole character; 0: no character begins so
  uint8_t second_low = 0x80;  // what the second byte may be; the others are always 80..BF
  uint8_t second_high = 0xBF;
};

LeadByte classify_lead(uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xC2) return {0};  // continuations, and leads of overlong forms
  if (lead < 0xE0) return {2};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (lead == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (lead < 0xF0) return {3};
  if (lead == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (lead < 0xF4) return {4};
  if (lead == 0xF4) return {4, 0x80, 0x8F};  // above: past U+10FFFF
  return {0};
}

}  // namespace

Utf8Step next_utf8(std::string_view bytes) {
  const LeadByte lead = classify_lead(static_cast<uint8_t>(bytes[0]));
  if (lead.length == 0) return {Utf8Kind::kInvalid, 1};
  for (size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Utf8Kind::kIncomplete, i};
    const auto byte = static_cast<uint8_t>(bytes[i]);
    const uint8_t low = i == 1 ? lead.second_low : 0x80;
    const uint8_t high = i == 1 ? lead.second_high : 0xBF;
    if (byte < low || byte > high) return {Utf8Kind::kInvalid, i};
  }
  return {Utf8Kind::kCharacter, lead.length};
}

size_t valid_utf8_prefix(std::string_view bytes) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  while (at < bytes.size()) {
    uint64_t word;
    while (bytes.size() - at >= sizeof word) {  // ASCII, eight bytes at a time
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if ((word & kHighBits) != 0) break;
      at += sizeof word;
    }
    if (at == bytes.size()) break;
    const Utf8Step step = next_utf8(bytes.substr(at));
    if (step.kind != Utf8Kind::kCharacter) break;
    at += step.length;
  }
  return at;
}

}  // namespace ferrox
