// Is a file trusted only when all of it agrees? Every byte damaged, every length, every other layout.
#include "tier/entry_file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>

#include "tier/checksum.h"
#include "tier/file_io.h"
#include "tier_rig.h"

namespace ferrox {
namespace {

using testing::Parts;
using testing::TestEntry;

/// A file in memory.
Descriptor file_of(std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create("entry", MFD_CLOEXEC));
  EXPECT_TRUE(write_pieces(file.fd(), std::span(&bytes, 1)));
  return file;
}

class EntryFileTest : public ::testing::Test {
 protected:
  std::vector<std::byte> encode(const TestEntry& entry, PartMask mask) const {
    const auto copy = testing::entry_of(layout_, entry, mask);
    auto bytes = encode_entry_header(layout_, *copy);
    bytes.insert(bytes.end(), copy->bytes().begin(), copy->bytes().end());
    return bytes;
  }

  Result<void> read(std::span<const std::byte> bytes, const EntryFileName& name, const Parts& parts) const {
    const Descriptor file = file_of(bytes);
    return read_entry_file(file.fd(), layout_, name, parts.targets());
  }

  EntryFileName name_of(const TestEntry& entry, PartMask mask) const {
    return file_name_of(*testing::entry_of(layout_, entry, mask));
  }

  TierLayout layout_ = testing::small_layout();
  TestEntry page_ = testing::page_after(testing::test_root(), 7);
  TestEntry state_ = testing::state_after(testing::test_root(), {3, 4});
};

TEST_F(EntryFileTest, PartsComeBack) {
  for (const PartMask mask : {1u, 2u, 3u, 5u, 7u}) {
    const auto bytes = encode(page_, mask);
    EXPECT_EQ(bytes.size(), entry_file_bytes(layout_, 4, mask));
    for (PartMask wanted = 0; wanted <= mask; ++wanted) {
      if ((wanted & ~mask) != 0) continue;
      const Parts parts(layout_, wanted);
      ASSERT_TRUE(read(bytes, name_of(page_, mask), parts));
      EXPECT_TRUE(parts.are_of(layout_, page_.key));
    }
  }
}

TEST_F(EntryFileTest, StatesHaveFewerTokensThanAPage) {
  for (const size_t n : {0u, 1u, 3u}) {
    const TestEntry state = testing::state_after(page_.key, std::vector<int32_t>(n, 9));
    const Parts parts(layout_, testing::kStatePart);
    ASSERT_TRUE(read(encode(state, testing::kStatePart), name_of(state, testing::kStatePart), parts));
    EXPECT_TRUE(parts.are_of(layout_, state.key));
  }
}

TEST_F(EntryFileTest, DamageAtEveryByteIsSeen) {
  const auto good = encode(page_, testing::kBothKinds);
  const auto name = name_of(page_, testing::kBothKinds);
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {1, 0x80, 0xFF}) {
      auto bad = good;
      bad[i] ^= static_cast<std::byte>(flip);
      const auto done = read(bad, name, Parts(layout_, testing::kBothKinds));
      ASSERT_FALSE(done) << "byte " << i;
      EXPECT_EQ(done.error().code, i < kEntryMagic.size() ? ErrorCode::kUnsupported : ErrorCode::kCorrupt) << i;
    }
  }
}

TEST_F(EntryFileTest, EveryOtherLengthIsSeen) {
  const auto good = encode(page_, testing::kBothKinds);
  const auto name = name_of(page_, testing::kBothKinds);
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(read(std::span(good).first(n), name, Parts(layout_, 1))) << n;
  }
  auto longer = good;
  for (size_t n = 1; n < 40; ++n) {
    longer.push_back(std::byte{0});
    const auto done = read(longer, name, Parts(layout_, 1));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kCorrupt);
  }
}

TEST_F(EntryFileTest, AnothersFileUnderThisNameIsSeen) {
  const auto name = name_of(page_, testing::kBothKinds);
  const Parts parts(layout_, 1);
  const TestEntry other = testing::page_after(testing::test_root(), 8);
  EXPECT_EQ(read(encode(other, testing::kBothKinds), name, parts).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read(encode(page_, 1), name, parts).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read(encode(state_, testing::kStatePart), name, parts).error().code, ErrorCode::kCorrupt);
  const std::string text(1'000, 'x');
  EXPECT_EQ(read(std::as_bytes(std::span(text)), name, parts).error().code, ErrorCode::kUnsupported);
}

TEST_F(EntryFileTest, AnotherModelOrLayoutIsNamed) {
  const auto bytes = encode(page_, testing::kBothKinds);
  const auto name = name_of(page_, testing::kBothKinds);
  const auto refusal = [&](const std::function<void(TierLayout&)>& change) {
    const TierLayout before = layout_;
    change(layout_);
    const auto done = read(bytes, name, Parts(layout_, 1));
    layout_ = before;
    EXPECT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kUnsupported);
    return done.error().message;
  };
  EXPECT_NE(refusal([](TierLayout& l) { l.model.bytes[0] ^= 1; }).find("another's"), std::string::npos);
  EXPECT_NE(refusal([](TierLayout& l) { l.part_bytes[1] = 41; }).find("expected 41 bytes, found 40"),
            std::string::npos);
  EXPECT_NE(refusal([](TierLayout& l) { l.part_bytes.push_back(8); }).find("expected 4 parts, found 3"),
            std::string::npos);
  EXPECT_NE(refusal([](TierLayout& l) { l.page_rows = 8; }).find("another layout"), std::string::npos);
}

// The name has as many tokens as a page of this layout has rows; the header alone says another number.
TEST_F(EntryFileTest, AnotherNumberOfRowsUnderAGoodNameIsNamed) {
  auto bad = encode(page_, testing::kBothKinds);
  const uint32_t rows = 5;
  std::memcpy(bad.data() + 56, &rows, sizeof rows);
  const size_t n_fields = bad.size() - bytes_of_parts(layout_, testing::kBothKinds) - kChecksumBytes;
  const Checksum sum = checksum_of(std::span(bad).first(n_fields));
  std::memcpy(bad.data() + n_fields, sum.bytes.data(), kChecksumBytes);
  const auto done = read(bad, name_of(page_, testing::kBothKinds), Parts(layout_, 1));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(done.error().message, "expected pages of 4 rows, found 5");
}

// The checksum is made right again after each change, so that the fields themselves are judged.
TEST_F(EntryFileTest, HeadersThatContradictThemselvesAreRefused) {
  const auto copy = testing::entry_of(layout_, page_, testing::kBothKinds);
  const auto good = encode_entry_header(layout_, *copy);
  ASSERT_TRUE(parse_entry_header(good, layout_));
  for (size_t i = 0; i + kChecksumBytes < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= std::byte{1};
    const auto fields = std::span(bad).first(bad.size() - kChecksumBytes);
    const Checksum sum = checksum_of(fields);
    std::memcpy(bad.data() + fields.size(), sum.bytes.data(), kChecksumBytes);
    const auto header = parse_entry_header(bad, layout_);
    const bool is_parts_checksum = i >= fields.size() - 2 * kChecksumBytes;
    EXPECT_EQ(header.has_value(), is_parts_checksum) << "byte " << i;
  }
}

TEST_F(EntryFileTest, NamesAreReadBackStrictly) {
  const auto name = name_of(page_, testing::kBothKinds);
  const std::string text = to_text(name);
  EXPECT_EQ(parse_entry_file_name(text), name);
  const auto state = name_of(state_, testing::kStatePart);
  EXPECT_EQ(parse_entry_file_name(to_text(state)), state);
  for (size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(parse_entry_file_name(text.substr(0, n))) << n;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = '/';
    EXPECT_FALSE(parse_entry_file_name(other)) << i;
    other[i] = 'A';
    EXPECT_FALSE(parse_entry_file_name(other)) << i;
  }
  const std::string keys = text.substr(0, 130);
  for (const char* const rest : {"03-4.page1", "3-04.page1", "3-4.page2", "3-4.page1 ", "-3-4.page1", "3-.page1",
                                 "100000000-4.page1", "3-99999999999.page1", "3-+4.page1", "3.page1", ".page1"}) {
    EXPECT_FALSE(parse_entry_file_name(keys + rest)) << rest;
  }
  EXPECT_TRUE(parse_entry_file_name(keys + "3-4.page1"));
}

TEST(TierLayoutTest, ImpossibleOnesAreRefused) {
  const TierLayout good = testing::small_layout();
  EXPECT_TRUE(validate_tier_layout(good));
  const auto refuses = [&good](const std::function<void(TierLayout&)>& change) {
    TierLayout layout = good;
    change(layout);
    return !validate_tier_layout(layout);
  };
  EXPECT_TRUE(refuses([](TierLayout& l) { l.page_rows = 0; }));
  EXPECT_TRUE(refuses([](TierLayout& l) { l.page_rows = 65'537; }));
  EXPECT_TRUE(refuses([](TierLayout& l) { l.part_bytes.clear(); }));
  EXPECT_TRUE(refuses([](TierLayout& l) { l.part_bytes.assign(33, 1); }));
  EXPECT_FALSE(refuses([](TierLayout& l) { l.part_bytes.assign(32, 1); }));
  EXPECT_TRUE(refuses([](TierLayout& l) { l.part_bytes[0] = 0; }));
  EXPECT_TRUE(refuses([](TierLayout& l) { l.part_bytes[0] = ~uint64_t{0}; }));
}

}  // namespace
}  // namespace ferrox
