// Does a sampled token go through the loop in the one right order?
#include "engine/token_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/samplers/candidates.h"
#include "support/fake_vocabulary.h"
#include "text/utf8.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using testing::fake_vocabulary;
using testing::FakeModel;
using ::testing::HasSubstr;
using testing::kControlToken;
using testing::kEndToken;

GenerationRequest greedy_request() {
  GenerationRequest request;
  request.prompt = {1};
  request.sampling.temperature = 0;
  return request;
}

/// Logits that make `id` the greedy choice.
std::vector<float> logits_for(int32_t id) {
  std::vector<float> logits(FakeModel::kVocab, 0.0f);
  logits[static_cast<size_t>(id)] = 10.0f;
  return logits;
}

/// What came out when the model wanted exactly `ids`, until the answer ended.
struct Answer {
  std::vector<std::string> texts;  ///< of each token event
  std::vector<int32_t> ids;
  std::optional<Finished> finished;
  int64_t n_generated = 0;

  std::string text() const {
    std::string out;
    for (const std::string& piece : texts) out += piece;
    return out + (finished ? finished->text() : "");
  }
};

Answer answer(const GenerationRequest& request, const std::vector<int32_t>& ids, int64_t max_tokens = 100) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  TokenLoop loop = *TokenLoop::create(request, max_tokens, vocabulary);
  Answer result;
  for (const int32_t id : ids) {
    std::vector<float> logits = logits_for(id);
    TokenLoop::Outcome outcome = *loop.take_logits(logits);
    if (outcome.token) {
      result.texts.push_back(outcome.token->text);
      result.ids.push_back(outcome.token->id);
    }
    result.finished = std::move(outcome.finished);
    if (result.finished) break;
  }
  result.n_generated = loop.n_generated();
  return result;
}

TEST(TokenLoop, EndTokenStopsAndIsNeitherCountedNorEmitted) {
  const Answer got = answer(greedy_request(), {0, 1, kEndToken, 2});
  EXPECT_EQ(got.text(), "ab");
  EXPECT_EQ(got.n_generated, 2);
  EXPECT_EQ(got.finished->reason(), FinishReason::kStop);
  EXPECT_EQ(got.finished->stop_token(), kEndToken);
  EXPECT_FALSE(got.finished->matched_stop());
}

TEST(TokenLoop, IgnoringTheEndKeepsTheCallersFence) {
  GenerationRequest request = greedy_request();
  request.ignore_eos = true;
  request.stop_tokens = {5};
  const Answer got = answer(request, {0, kEndToken, 1, 5, 2});
  EXPECT_EQ(got.text(), "ab");
  EXPECT_THAT(got.ids, ElementsAre(0, kEndToken, 1));
  EXPECT_EQ(got.finished->stop_token(), 5);
}

TEST(TokenLoop, LengthIsAnEndOfItsOwn) {
  const Answer got = answer(greedy_request(), {0, 1, 2, 3}, 3);
  EXPECT_EQ(got.text(), "abc");
  EXPECT_EQ(got.finished->reason(), FinishReason::kLength);
  EXPECT_TRUE(got.finished->is_complete());
  EXPECT_EQ(answer(greedy_request(), {0}, 0).finished->reason(), FinishReason::kLength);
}

TEST(TokenLoop, AStopStringOfOneTokenIsMatchedByItsId) {
  GenerationRequest request = greedy_request();
  request.stop = {"<ctl>"};
  const Answer got = answer(request, {0, kControlToken, 1});
  EXPECT_EQ(got.text(), "a");
  EXPECT_EQ(got.n_generated, 1);
  EXPECT_EQ(got.finished->matched_stop(), "<ctl>");
  EXPECT_FALSE(got.finished->stop_token());
}

TEST(TokenLoop, AStopFoundByIdLetsHeldTextGo) {
  GenerationRequest request = greedy_request();
  request.stop = {"abz", "<ctl>"};
  const Answer got = answer(request, {0, 1, kControlToken});
  EXPECT_EQ(got.text(), "ab");
  request.include_stop = true;
  EXPECT_EQ(answer(request, {0, 1, kControlToken}).text(), "ab<ctl>");
}

TEST(TokenLoop, AStopStringOverTokenBordersNeverShows) {
  GenerationRequest request = greedy_request();
  request.stop = {"abc"};
  Answer got = answer(request, {23, 31, 2, 4});  // x, ab, c
  EXPECT_EQ(got.texts, (std::vector<std::string>{"x", "", ""}));
  EXPECT_EQ(got.finished->matched_stop(), "abc");
  EXPECT_EQ(got.n_generated, 3);
  request.include_stop = true;
  got = answer(request, {23, 31, 2, 4});
  EXPECT_EQ(got.text(), "xabc");
}

TEST(TokenLoop, HeldTextIsLetGoWhenTheAnswerEndsOtherwise) {
  GenerationRequest request = greedy_request();
  request.stop = {"abc"};
  EXPECT_EQ(answer(request, {0, 1, kEndToken}).text(), "ab");
  EXPECT_EQ(answer(request, {0, 1}, 2).text(), "ab");
  EXPECT_EQ(answer(request, {0, 1}, 2).finished->text(), "ab");
}

TEST(TokenLoop, CharactersLeaveWhole) {
  const Answer got = answer(greedy_request(), {26, 27, 28, 29, 0, kEndToken});
  EXPECT_EQ(got.texts, (std::vector<std::string>{"", "", "", "\xF0\x9F\x98\x80", "a"}));
}

TEST(TokenLoop, AnIncompleteCharacterAtTheEndBecomesAReplacement) {
  EXPECT_EQ(answer(greedy_request(), {0, 26, 27, kEndToken}).text(), "a\xEF\xBF\xBD");
  EXPECT_EQ(answer(greedy_request(), {30, 0, kEndToken}).text(),
            "\xEF\xBF\xBD"
            "a");
}

TEST(TokenLoop, AStopMayHoldAReplacementAndAnEndMayCompleteIt) {
  GenerationRequest request = greedy_request();
  request.stop = {"a\xEF\xBF\xBD"};
  const Answer got = answer(request, {1, 0, 26, kEndToken});
  EXPECT_EQ(got.text(), "b");
  EXPECT_EQ(got.finished->matched_stop(), "a\xEF\xBF\xBD");
}

TEST(TokenLoop, RandomBytesComeOutAsWholeText) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    GenerationRequest request = greedy_request();
    request.ignore_eos = true;
    if (random() % 2 == 0) request.stop = {"a\xF0\x9F\x98\x80", "zz"};
    std::vector<int32_t> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(static_cast<int32_t>(random() % 33));
    const Answer got = answer(request, ids, 40);
    for (const std::string& text : got.texts) ASSERT_EQ(valid_utf8_prefix(text), text.size()) << "seed " << seed;
    ASSERT_EQ(valid_utf8_prefix(got.text()), got.text().size());
  }
}

TEST(TokenLoop, LogitsThatArentFiniteEndTheRequest) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    TokenLoop loop = *TokenLoop::create(greedy_request(), 5, vocabulary);
    std::vector<float> logits = logits_for(3);
    logits[40] = bad;
    EXPECT_EQ(loop.take_logits(logits).error().message, "model gave no finite logits");
  }
  TokenLoop loop = *TokenLoop::create(greedy_request(), 5, vocabulary);
  std::vector<float> nothing(FakeModel::kVocab, kImpossible);
  EXPECT_EQ(loop.take_logits(nothing).error().message, "model gave no finite logits");
}

TEST(TokenLoop, BansThatLeaveNothingEndTheRequest) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  GenerationRequest request = greedy_request();
  request.sampling.allowed_tokens = {3};
  request.sampling.logit_bias = {{3, kImpossible}};
  TokenLoop loop = *TokenLoop::create(request, 5, vocabulary);
  std::vector<float> logits = logits_for(1);
  EXPECT_THAT(loop.take_logits(logits).error().message, HasSubstr("leave no token"));
}

TEST(TokenLoop, RefusesBadRequestsByName) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  const auto message_of = [&](auto change) {
    GenerationRequest request = greedy_request();
    change(request);
    const Result<TokenLoop> loop = TokenLoop::create(request, 5, vocabulary);
    return loop ? std::string() : loop.error().message;
  };
  EXPECT_THAT(message_of([](auto& r) {
                r.prompt = {1, 64};
              }),
              HasSubstr("prompt: expected token ids of 0 to 63, found 64"));
  EXPECT_THAT(message_of([](auto& r) { r.prompt = {-1}; }), HasSubstr("found -1"));
  EXPECT_THAT(message_of([](auto& r) { r.stop_tokens = {99}; }), HasSubstr("stop_tokens"));
  EXPECT_THAT(message_of([](auto& r) { r.stop = {"ok", ""}; }), HasSubstr("stop 1: expected text"));
  EXPECT_THAT(message_of([](auto& r) { r.stop = {"\x80"}; }), HasSubstr("stop 0: expected UTF-8"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.temperature = std::nanf(""); }), HasSubstr("temperature"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.mirostat = 3; }), HasSubstr("mirostat: expected 0, 1 or 2, found 3"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.repeat_last_n = -2; }), HasSubstr("repeat_last_n"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.logit_bias = {{64, 0.0f}}; }), HasSubstr("logit_bias"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.logit_bias = {{1, std::nanf("")}}; }), HasSubstr("logit_bias"));
  EXPECT_THAT(message_of([](auto& r) { r.sampling.allowed_tokens = {-1}; }), HasSubstr("allowed_tokens"));
}

TEST(TokenLoop, CancellingLetsHeldTextGo) {
  const LoopVocabulary vocabulary = fake_vocabulary();
  GenerationRequest request = greedy_request();
  request.stop = {"abc"};
  TokenLoop loop = *TokenLoop::create(request, 5, vocabulary);
  std::vector<float> logits = logits_for(0);
  ASSERT_EQ(loop.take_logits(logits)->token->text, "");
  const Finished finished = loop.cancel();
  EXPECT_EQ(finished.text(), "a");
  EXPECT_EQ(finished.reason(), FinishReason::kCancelled);
  EXPECT_FALSE(finished.is_complete());
}

}  // namespace
}  // namespace ferrox
