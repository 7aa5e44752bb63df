// Does the identity change with everything that rows depend on, and with nothing else?
#include "engine/model_identity.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ferrox {
namespace {

TEST(ModelIdentity, ChangesWithWhatRowsDependOnAlone) {
  ThreadPool one(1);
  ThreadPool two(2);
  std::vector<std::byte> bytes(40'000'000, std::byte{3});  // three chunks
  const KvLayout layout{
      .layers = {{2, 64, 64, 0}, {2, 64, 64, 128}}, .page_rows = 32, .k_type = DType::kF16, .v_type = DType::kF16};
  const auto identity = [&](const KvLayout& stored, ThreadPool& pool) {
    const std::span<const std::byte> file(bytes);
    return to_hex(model_identity(std::span(&file, 1), stored, pool));
  };
  const std::string first = identity(layout, one);
  EXPECT_EQ(identity(layout, two), first);
  std::set<std::string> seen{first};
  const auto is_new = [&seen](const std::string& id) { return seen.insert(id).second; };
  KvLayout other = layout;
  other.state_floats = 1;
  EXPECT_TRUE(is_new(identity(other, one)));
  other = layout;
  other.page_rows = 64;
  EXPECT_TRUE(is_new(identity(other, one)));
  other = layout;
  other.k_type = DType::kQ8_0;
  EXPECT_TRUE(is_new(identity(other, one)));
  other = layout;
  other.v_type = DType::kQ8_0;
  EXPECT_TRUE(is_new(identity(other, one)));
  other = layout;
  other.layers[1].window = 0;
  EXPECT_TRUE(is_new(identity(other, one)));
  for (const size_t at : {size_t{0}, size_t{17'000'000}, bytes.size() - 1}) {
    bytes[at] ^= std::byte{1};
    EXPECT_TRUE(is_new(identity(layout, one)));
    bytes[at] ^= std::byte{1};
  }
  EXPECT_EQ(identity(layout, one), first);
}

}  // namespace
}  // namespace ferrox
