// Is every lie of a file refused with a word about it, before it costs memory or an address beyond the file?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "raw_gguf.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawGguf;

constexpr uint64_t kHuge[] = {1000000000,
                              uint64_t{1} << 32,
                              uint64_t{1} << 40,
                              uint64_t{1} << 62,
                              uint64_t{1} << 63,
                              std::numeric_limits<uint64_t>::max() - 7,
                              std::numeric_limits<uint64_t>::max()};
constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

void expect_refused(const RawGguf& raw, const char* message) {
  const auto file = raw.parse();
  ASSERT_FALSE(file) << "accepted; expected: " << message;
  EXPECT_THAT(file.error().message, HasSubstr(message));
  EXPECT_THAT(file.error().message, HasSubstr("raw: "));
}

// A small file with every kind of value and two tensors; its last byte is the last tensor's last.
RawGguf good() {
  auto raw = RawGguf::start(2, 8);
  raw.key("u8", ValueType::kUint8).number<uint8_t>(200);
  raw.key("i64", ValueType::kInt64).number<int64_t>(-2);
  raw.key("f64", ValueType::kFloat64).number(0.5);
  raw.key("bool", ValueType::kBool).number<uint8_t>(1);
  raw.key("string", ValueType::kString).string("text");
  raw.array("shorts", ValueType::kInt16, 3).number<int16_t>(-1).number<int16_t>(0).number<int16_t>(1);
  raw.array("strings", ValueType::kString, 2).string("a").string("");
  raw.array("bools", ValueType::kBool, 2).number<uint8_t>(1).number<uint8_t>(0);
  raw.tensor("first", {4, 2}, kF32, 0).tensor("second", {32}, kQ4_0, 32);
  return raw.data(32 + 18);
}

TEST(Hostile, TheGoodFileIsGood) {
  const auto raw = good();
  const auto file = raw.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*file->metadata().get_uint("u8"), 200u);
  EXPECT_EQ(*file->metadata().get_float("i64"), -2.0);
  EXPECT_EQ(file->tensors()[1].size_bytes, 18u);
}

TEST(Hostile, EveryTruncationIsRefused) {
  auto raw = good();
  const auto whole = raw.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a read past the end is a read past an allocation.
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto file = GgufFile::parse(part, "cut");
    ASSERT_FALSE(file) << size;
    ASSERT_FALSE(file.error().message.empty());
  }
}

// Whatever is written anywhere, the parser ends by itself; what it accepts lies within the bytes.
void expect_contained(const std::vector<std::byte>& bytes) {
  const auto file = GgufFile::parse(bytes, "damaged");
  if (!file) return;
  for (const auto& tensor : file->tensors()) {
    ASSERT_GE(tensor.data, bytes.data());
    ASSERT_LE(tensor.size_bytes, bytes.size());
    ASSERT_LE(tensor.data + tensor.size_bytes, bytes.data() + bytes.size());
  }
}

TEST(Hostile, EveryByteInEveryValue) {
  auto bytes = good().bytes();
  for (auto& byte : bytes) {
    const auto saved = byte;
    for (int value = 0; value < 256; ++value) {
      byte = static_cast<std::byte>(value);
      expect_contained(bytes);
    }
    byte = saved;
  }
}

TEST(Hostile, HugeNumbersEverywhere) {
  const auto whole = good().bytes();
  for (size_t at = 0; at + 8 <= whole.size(); ++at) {
    for (const auto value : kHuge) {
      auto bytes = whole;
      std::memcpy(bytes.data() + at, &value, sizeof value);
      expect_contained(bytes);
    }
  }
}

TEST(Hostile, CountsBeyondTheFile) {
  for (const auto count : kHuge) {
    expect_refused(RawGguf::start(0, count), "metadata pairs need at least 14 bytes each");
    expect_refused(RawGguf::start(count, 0), "tensor entries need at least 33 bytes each");
    expect_refused(RawGguf::start(0, 1).array("k", ValueType::kUint8, count).data(100), "array");
    expect_refused(RawGguf::start(0, 1).array("k", ValueType::kFloat64, count).data(100), "array elements need");
    expect_refused(RawGguf::start(0, 1).array("k", ValueType::kString, count).data(100), "strings need");
    expect_refused(RawGguf::start(0, 1).array("k", ValueType::kBool, count).data(100), "booleans needs");
    expect_refused(RawGguf::start(0, 1).number(count).data(100), "a metadata key needs");
    expect_refused(RawGguf::start(0, 1).key("k", ValueType::kString).number(count).data(100), "a string needs");
    expect_refused(RawGguf::start(1, 0).number(count).data(100), "a tensor name needs");
  }
}

TEST(Hostile, CountsThatOnlyAHugeFileCouldBack) {
  expect_refused(RawGguf::start(0, 65537).data(65537 * 14), "metadata pairs: expected at most 65536, found 65537");
  expect_refused(RawGguf::start(262145, 0).data(262145 * 33), "tensors: expected at most 262144, found 262145");
}

TEST(Hostile, ValuesOfWrongKinds) {
  expect_refused(RawGguf::start(0, 1).string("k").number<uint32_t>(13).data(64),
                 "value type: expected 0 to 12, found 13");
  expect_refused(RawGguf::start(0, 1).array("k", static_cast<ValueType>(77), 1).data(64), "element type");
  expect_refused(RawGguf::start(0, 1).array("k", ValueType::kArray, 1).data(64), "array of arrays");
  expect_refused(RawGguf::start(0, 1).key("k", ValueType::kBool).number<uint8_t>(2),
                 "boolean: expected 0 or 1, found 2");
  expect_refused(RawGguf::start(0, 1).array("k", ValueType::kBool, 1).number<uint8_t>(9).data(0), "found 9");
}

TEST(Hostile, NamesThatAreNone) {
  expect_refused(RawGguf::start(0, 1).key("", ValueType::kUint8).data(64), "a metadata key: expected 1 to 65535 bytes");
  expect_refused(RawGguf::start(0, 1).key("a\x1b[2J", ValueType::kUint8).data(64), "printable ascii, found byte 0x1b");
  expect_refused(RawGguf::start(1, 0).tensor("", {1}, kF32, 0).data(64), "a tensor name: expected 1 to 65535 bytes");
  const std::string long_name(65536, 'x');
  expect_refused(RawGguf::start(1, 0).tensor(long_name, {1}, kF32, 0).data(64), "found 65536");
}

TEST(Hostile, TheSameNameTwice) {
  auto keys = RawGguf::start(0, 2);
  keys.key("k", ValueType::kUint8).number<uint8_t>(1).key("k", ValueType::kUint8).number<uint8_t>(1);
  expect_refused(keys, "metadata key 'k' stands twice");
  auto tensors = RawGguf::start(2, 0);
  tensors.tensor("t", {8}, kF32, 0).tensor("t", {8}, kF32, 32).data(64);
  expect_refused(tensors, "tensor 't' stands twice");
}

void expect_tensor_refused(std::vector<uint64_t> dims, uint32_t dtype, uint64_t offset, const char* message) {
  expect_refused(RawGguf::start(1, 0).tensor("t", std::move(dims), dtype, offset).data(64), message);
}

TEST(Hostile, Dimensions) {
  constexpr uint64_t k32 = uint64_t{1} << 32;
  expect_tensor_refused({}, kF32, 0, "tensor 't': dimensions: expected 1 to 4, found 0");
  expect_tensor_refused({1, 1, 1, 1, 1}, kF32, 0, "dimensions: expected 1 to 4, found 5");
  expect_tensor_refused({8, 0}, kF32, 0, "dimensions 8 x 0");
  expect_tensor_refused({k32, k32}, kF32, 0, "expected a product between 1 and 2^64 - 1");
  expect_tensor_refused({k32, k32 / 2}, kF32, 0, "the size exceeds 2^64 bytes");
  expect_tensor_refused({k32 / 2, k32 / 2}, kF32, 0, "the size exceeds 2^64 bytes");
  expect_tensor_refused({k32, k32, k32, k32}, kQ4_0, 0, "expected a product between 1 and 2^64 - 1");
  expect_tensor_refused({33}, kQ4_0, 0, "row of 33 elements: expected a multiple of 32, the block of Q4_0");
  expect_tensor_refused({16, 2}, kQ4_0, 0, "row of 16 elements");
  expect_tensor_refused({17}, kF32, 0, "68 bytes at offset 0: the file has 64 bytes of data");
}

TEST(Hostile, Types) {
  expect_tensor_refused({32}, 9, 0, "found number 9 (Q8_1, for activations)");
  expect_tensor_refused({32}, 4, 0, "found number 4 (Q4_2, withdrawn)");
  expect_tensor_refused({32}, 43, 0, "found number 43 (unknown)");
  expect_tensor_refused({32}, 0xffffffff, 0, "found number 4294967295 (unknown)");
}

TEST(Hostile, Offsets) {
  expect_tensor_refused({8}, kF32, 4, "offset 4: expected a multiple of the alignment 32");
  expect_tensor_refused({8}, kF32, 64, "32 bytes at offset 64: the file has 64 bytes of data");
  expect_tensor_refused({8}, kF32, std::numeric_limits<uint64_t>::max() - 31, "the file has 64 bytes of data");
  expect_tensor_refused({8}, kF32, uint64_t{1} << 63, "the file has 64 bytes of data");
  auto raw = RawGguf::start(2, 0);
  expect_refused(raw.tensor("b", {16}, kF32, 0).tensor("a", {8}, kF32, 32).data(64), "tensors 'b' and 'a' overlap");
}

RawGguf aligned(uint32_t alignment, uint64_t offset) {
  auto raw = RawGguf::start(1, 1);
  raw.key("general.alignment", ValueType::kUint32).number(alignment);
  return raw.tensor("t", {8}, kF32, offset).data(96, 64);
}

TEST(Hostile, Alignments) {
  const auto sound = aligned(64, 64);
  const auto file = sound.parse();
  ASSERT_TRUE(file) << file.error().message;
  expect_refused(aligned(64, 32), "offset 32: expected a multiple of the alignment 64");
  for (const uint32_t alignment : {0u, 3u, 48u, 1u << 21, 1u << 31}) {
    expect_refused(aligned(alignment, 0), "general.alignment: expected a power of two");
  }
  auto text = RawGguf::start(0, 1);
  expect_refused(text.key("general.alignment", ValueType::kString).string("32"),
                 "expected an unsigned integer, found a string");
}

// With an alignment of one, neighbours may touch and must not share a byte.
TEST(Hostile, OverlapOfOneByte) {
  for (const uint64_t second : {31, 32}) {
    auto raw = RawGguf::start(2, 1);
    raw.key("general.alignment", ValueType::kUint32).number<uint32_t>(1);
    raw.tensor("a", {8}, kF32, 0).tensor("b", {8}, kF32, second).data(64, 1);
    EXPECT_EQ(raw.parse().has_value(), second == 32);
  }
}

TEST(Hostile, Versions) {
  expect_refused(RawGguf::start(0, 0, 0), "gguf version: expected 2 or 3, found 0");
  expect_refused(RawGguf::start(0, 0, 1), "gguf version: expected 2 or 3, found 1; convert the original model again");
  expect_refused(RawGguf::start(0, 0, 4), "gguf version: expected 2 or 3, found 4");
  expect_refused(RawGguf::start(0, 0, 0x03000000), "big-endian gguf file (version 3)");
  const auto second = RawGguf::start(0, 0, 2);
  const auto file = second.parse();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->version(), 2u);
}

TEST(Hostile, APartOfASplitModelInMemory) {
  auto raw = RawGguf::start(0, 1);
  expect_refused(raw.key("split.count", ValueType::kUint16).number<uint16_t>(2),
                 "expected part 1 of 1, found part 1 of 2");
}

// A sparse file of 64 GB can back any count; the header's own limit must refuse it.
TEST(Hostile, ASparseFileOfManyGigabytes) {
  const testing::TempFolder folder;
  const auto path = folder / "sparse.gguf";
  for (const auto element : {ValueType::kUint8, ValueType::kString, ValueType::kBool}) {
    auto raw = RawGguf::start(0, 1);
    raw.array("k", element, uint64_t{1} << 32);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(raw.bytes().data()), static_cast<std::streamsize>(raw.size()));
    if (::truncate(path.c_str(), off_t{1} << 36) != 0) GTEST_SKIP() << "no sparse files here";
    const auto file = GgufFile::open(path);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr("sparse.gguf: metadata key 'k': at byte 49: "));
  }
}

}  // namespace
}  // namespace ferrox
