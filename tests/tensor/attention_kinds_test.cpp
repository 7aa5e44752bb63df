// Do layers of one window share a kind, and does the first of them give it its number?
#include "tensor/attention_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferrox {
namespace {

using ::testing::ElementsAre;

AttentionKinds kinds_of(const std::vector<int>& windows) {
  std::vector<KvLayerShape> layers;
  for (const int window : windows) layers.push_back({.n_kv_heads = 1, .k_dim = 8, .v_dim = 8, .window = window});
  return attention_kinds(layers);
}

TEST(AttentionKinds, AreNumberedByFirstAppearance) {
  const AttentionKinds kinds = kinds_of({512, 0, 512, 512, 0, 128});
  EXPECT_THAT(kinds.windows, ElementsAre(512, 0, 128));
  EXPECT_THAT(kinds.of_layer, ElementsAre(0, 1, 0, 0, 1, 2));
}

TEST(AttentionKinds, AUniformModelHasOne) {
  EXPECT_EQ(kinds_of({0, 0, 0}).size(), 1);
  EXPECT_EQ(kinds_of({}).size(), 0);
}

}  // namespace
}  // namespace ferrox
