// Is every byte string classified as the WHATWG decoder would, and put together the same wherever it is cut?
#include "text/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_text.h"
#include "text/utf8_assembler.h"

namespace ferrox {
namespace {

TEST(Utf8, AcceptsExactlyTheCharacters) {
  for (int32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    testing::append_character(text, code_point);
    const Utf8Step step = next_utf8(text);
    ASSERT_EQ(step.kind, Utf8Kind::kCharacter) << code_point;
    ASSERT_EQ(step.length, text.size()) << code_point;
  }
}

TEST(Utf8, NamesMaximalSubparts) {
  const struct {
    std::string_view bytes;
    Utf8Kind kind;
    size_t length;
  } cases[] = {{"\x80", Utf8Kind::kInvalid, 1},
               {"\xC0\x80", Utf8Kind::kInvalid, 1},
               {"\xC1\xBF", Utf8Kind::kInvalid, 1},
               {"\xF5\x80\x80\x80", Utf8Kind::kInvalid, 1},
               {"\xFF", Utf8Kind::kInvalid, 1},
               {"\xE0\x9F\xBF", Utf8Kind::kInvalid, 1},  // overlong
               {"\xED\xA0\x80", Utf8Kind::kInvalid, 1},  // a surrogate
               {"\xF0\x8F\xBF\xBF", Utf8Kind::kInvalid, 1},
               {"\xF4\x90\x80\x80", Utf8Kind::kInvalid, 1},  // past U+10FFFF
               {"\xE2\x82"
                "a",
                Utf8Kind::kInvalid, 2},
               {"\xF0\x9F\x98"
                "a",
                Utf8Kind::kInvalid, 3},
               {"\xE2", Utf8Kind::kIncomplete, 1},
               {"\xF0\x9F\x98", Utf8Kind::kIncomplete, 3},
               {"\xE2\x82\xAC", Utf8Kind::kCharacter, 3}};
  for (const auto& c : cases) {
    const Utf8Step step = next_utf8(c.bytes);
    EXPECT_EQ(step.kind, c.kind) << ::testing::PrintToString(c.bytes);
    EXPECT_EQ(step.length, c.length) << ::testing::PrintToString(c.bytes);
  }
}

TEST(Utf8, ValidPrefixEndsBeforeTheFirstFault) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 500; ++turn) {
    const std::string good = testing::random_unicode(random, random() % 40);
    EXPECT_EQ(valid_utf8_prefix(good), good.size());
    EXPECT_EQ(valid_utf8_prefix(good + "\xE2\x82"), good.size());
    EXPECT_EQ(valid_utf8_prefix(good + "\xFFtext"), good.size());
  }
}

// The slow way: the whole string at once, by the specification's own loop over bytes.
std::string decode_whole(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    int32_t code_point = 0;
    const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
    const auto length = utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(bytes.size()), &code_point);
    if (length > 0) {
      text.append(bytes.substr(0, static_cast<size_t>(length)));
      bytes.remove_prefix(static_cast<size_t>(length));
      continue;
    }
    // the longest start of any character: grow it while some continuation makes a character of it
    size_t subpart = 1;
    for (size_t n = std::min<size_t>(3, bytes.size()); n > 1; --n) {
      bool can_grow = false;
      for (int pad = 0; pad < 4 && !can_grow; ++pad) {
        const std::string grown = std::string(bytes.substr(0, n)) + std::string(static_cast<size_t>(pad), '\x80');
        const auto* grown_data = reinterpret_cast<const utf8proc_uint8_t*>(grown.data());
        can_grow = utf8proc_iterate(grown_data, static_cast<utf8proc_ssize_t>(grown.size()), &code_point) ==
                   static_cast<utf8proc_ssize_t>(grown.size());
      }
      if (can_grow) {
        subpart = n;
        break;
      }
    }
    text.append(kReplacementCharacter);
    bytes.remove_prefix(subpart);
  }
  return text;
}

std::string assemble(std::string_view bytes, std::mt19937& random) {
  Utf8Assembler assembler;
  std::string text;
  while (!bytes.empty()) {
    const size_t n = std::min<size_t>(1 + random() % 5, bytes.size());
    const std::string part = assembler.push(bytes.substr(0, n));
    EXPECT_EQ(valid_utf8_prefix(part), part.size());
    EXPECT_LE(assembler.pending_bytes(), 3U);
    text += part;
    bytes.remove_prefix(n);
  }
  return text + assembler.flush();
}

TEST(Utf8Assembler, DoesNotDependOnWhereBytesAreCut) {
  std::mt19937 random(2);
  for (int turn = 0; turn < 3000; ++turn) {
    std::string bytes = testing::random_bytes(random, random() % 30);
    if (turn % 2 == 0) {  // near-valid text: characters with a byte broken here and there
      bytes = testing::random_unicode(random, 10);
      bytes[random() % bytes.size()] = static_cast<char>(random());
      bytes.resize(random() % bytes.size() + 1);
    }
    EXPECT_EQ(assemble(bytes, random), decode_whole(bytes)) << ::testing::PrintToString(bytes);
  }
}

TEST(Utf8Assembler, HoldsBackWhatMayBecomeACharacter) {
  Utf8Assembler assembler;
  EXPECT_EQ(assembler.push("a\xF0\x9F"), "a");
  EXPECT_EQ(assembler.push("\x98"), "");
  EXPECT_EQ(assembler.push("\x80"
                           "b"),
            "\xF0\x9F\x98\x80"
            "b");
  EXPECT_EQ(assembler.push("\xE2\x82"), "");
  EXPECT_EQ(assembler.push("c"),
            "\uFFFD"
            "c");
  EXPECT_EQ(assembler.push("\xE2"), "");
  EXPECT_EQ(assembler.flush(), "\uFFFD");
  EXPECT_EQ(assembler.flush(), "");
}

}  // namespace
}  // namespace ferrox
