// How are tokens, their bytes and their log-probabilities written?
#include "server/openai/logprobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/utf8.h"

namespace ferrox {
namespace {

/// JSON has no infinity; clients know this number as "practically never".
constexpr double kLeastLogprob = -9999.0;

double finite(float logprob) { return std::max(static_cast<double>(logprob), kLeastLogprob); }

/// Beside its token, which may be hidden text: control tokens show their name here.
std::string_view shown_bytes(const Tokenizer& tokenizer, int32_t id) {
  return tokenizer.token_bytes(id, SpecialText::kShow);
}

/// A row of logits that stands for no token of the vocabulary still needs a name.
std::string shown_name(const Tokenizer& tokenizer, int32_t id) {
  if (!tokenizer.vocabulary().contains(id)) return fmt::format("token_id:{}", id);
  return std::string(shown_bytes(tokenizer, id));
}

Json bytes_json(std::string_view bytes) {
  Json out = Json::array();
  for (const char c : bytes) out.push_back(static_cast<unsigned char>(c));
  return out;
}

Json entry(const Tokenizer& tokenizer, const TokenLogprob& scored) {
  const std::string_view bytes = shown_bytes(tokenizer, scored.id);
  return {
      {"token", shown_name(tokenizer, scored.id)}, {"logprob", finite(scored.logprob)}, {"bytes", bytes_json(bytes)}};
}

/// Names a token in an object, where two partial characters must not fall together.
std::string unique_name(const Tokenizer& tokenizer, int32_t id) {
  const std::string bytes = shown_name(tokenizer, id);
  if (valid_utf8_prefix(bytes) == bytes.size()) return bytes;
  std::string name = "bytes:";
  for (const char c : bytes) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return name;
}

TokenLogprob own_logprob(const ScoredToken& scored) {
  return scored.token.logprob.value_or(TokenLogprob{scored.token.id, static_cast<float>(kLeastLogprob)});
}

}  // namespace

Json chat_logprobs(const std::vector<ScoredToken>& tokens, const Tokenizer& tokenizer) {
  Json content = Json::array();
  for (const ScoredToken& scored : tokens) {
    Json row = entry(tokenizer, own_logprob(scored));
    Json top = Json::array();
    for (const TokenLogprob& other : scored.token.top_logprobs) top.push_back(entry(tokenizer, other));
    row["top_logprobs"] = std::move(top);
    content.push_back(std::move(row));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json completion_logprobs(const std::vector<ScoredToken>& tokens, const Tokenizer& tokenizer, size_t first_offset) {
  Json names = Json::array();
  Json logprobs = Json::array();
  Json tops = Json::array();
  Json offsets = Json::array();
  for (const ScoredToken& scored : tokens) {
    names.push_back(unique_name(tokenizer, scored.token.id));
    logprobs.push_back(finite(own_logprob(scored).logprob));
    Json top = Json::object();
    for (const TokenLogprob& other : scored.token.top_logprobs) {
      top[unique_name(tokenizer, other.id)] = finite(other.logprob);
    }
    tops.push_back(std::move(top));
    offsets.push_back(first_offset + scored.character_offset);
  }
  return {{"tokens", names}, {"token_logprobs", logprobs}, {"top_logprobs", tops}, {"text_offset", offsets}};
}

}  // namespace ferrox
