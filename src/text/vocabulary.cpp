// Which tokens does a model have, and what are they for?
#include "text/vocabulary.h"

#include <algorithm>
#include <cmath>

#include "text/tables/known_tokens.h"
#include "text/tables/pre_tokenizer_rules.h"

namespace ferrox {
namespace {

constexpr std::string_view kSentencePiece = "llama";

// Ids that SentencePiece models have when their files don't say.
constexpr std::pair<TokenRole, int32_t> kSentencePieceIds[] = {
    {TokenRole::kUnknown, 0}, {TokenRole::kBos, 1}, {TokenRole::kEos, 2}};

Result<void> check_count(std::string_view key, size_t n_found, size_t n_tokens) {
  if (n_found == n_tokens) return {};
  return make_error(ErrorCode::kCorrupt, "{}: expected {} values, one for each token, found {}", key, n_tokens,
                    n_found);
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Result<Vocabulary> Vocabulary::load(const Metadata& metadata) {
  Vocabulary vocabulary;
  TRY_ASSIGN(vocabulary.model_, metadata.get_string_or("tokenizer.ggml.model", "none"));
  TRY_ASSIGN(vocabulary.pre_, metadata.get_string_or("tokenizer.ggml.pre", "default"));
  if (vocabulary.model_ == "none" || vocabulary.model_ == "no_vocab") {
    return make_error(ErrorCode::kNotFound, "tokenizer.ggml.model: the file has no vocabulary");
  }
  TRY(vocabulary.load_tokens(metadata));
  TRY(vocabulary.load_scores(metadata));
  TRY(vocabulary.load_types(metadata));
  TRY(vocabulary.load_roles(metadata));
  vocabulary.find_roles_by_text();
  vocabulary.collect_end_of_generation();
  TRY(vocabulary.load_flags(metadata));
  return vocabulary;
}

Result<void> Vocabulary::load_tokens(const Metadata& metadata) {
  TRY_ASSIGN(const std::span<const std::string_view> tokens, metadata.get_strings("tokenizer.ggml.tokens"));
  if (tokens.empty() || tokens.size() > INT32_MAX) {
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: expected 1 to {} tokens, found {}", INT32_MAX,
                      tokens.size());
  }
  size_t n_bytes = 0;
  for (std::string_view token : tokens) n_bytes += token.size();
  texts_.reserve(tokens.size(), n_bytes);
  index_ = StringIndex(tokens.size());
  for (std::string_view token : tokens) {
    texts_.append(token);
    if (!token.empty()) index_.insert(texts_, static_cast<int32_t>(texts_.size() - 1));
  }
  types_.assign(tokens.size(), TokenType::kNormal);
  return {};
}

Result<void> Vocabulary::load_scores(const Metadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.ggml.scores";
  if (!metadata.contains(kKey)) return {};
  TRY_ASSIGN(scores_, metadata.get_floats(kKey));
  TRY(check_count(kKey, scores_.size(), types_.size()));
  const auto bad = std::find_if(scores_.begin(), scores_.end(), [](float score) { return std::isnan(score); });
  if (bad == scores_.end()) return {};
  return make_error(ErrorCode::kCorrupt, "{}: expected numbers, found nan for token {}", kKey, bad - scores_.begin());
}

Result<void> Vocabulary::load_types(const Metadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  if (!metadata.contains(kKey)) return {};
  TRY_ASSIGN(const std::vector<int64_t> types, metadata.get_ints(kKey));
  TRY(check_count(kKey, types.size(), types_.size()));
  for (size_t id = 0; id < types.size(); ++id) {
    if (types[id] < 0 || types[id] > static_cast<int64_t>(TokenType::kByte)) {
      return make_error(ErrorCode::kCorrupt, "{}: expected 0 to 6, found {} for token {}", kKey, types[id], id);
    }
    if (types[id] != 0) types_[id] = static_cast<TokenType>(types[id]);  // 0: the writer didn't know
  }
  return {};
}

Result<void> Vocabulary::load_roles(const Metadata& metadata) {
  roles_.fill(-1);
  if (model_ == kSentencePiece) {
    for (const auto& [role, id] : kSentencePieceIds) {
      if (id < size()) roles_[static_cast<size_t>(role)] = id;
    }
  }
  for (const KnownRole& known : known_roles()) {
    for (std::string_view key : {known.old_key, known.key}) {
      if (key.empty() || !metadata.contains(key)) continue;
      TRY_ASSIGN(const uint64_t id, metadata.get_uint(key));
      if (id >= types_.size()) {
        return make_error(ErrorCode::kCorrupt, "{}: expected a token below {}, found {}", key, types_.size(), id);
      }
      roles_[static_cast<size_t>(known.role)] = static_cast<int32_t>(id);
    }
  }
  return {};
}

Result<void> Vocabulary::load_flags(const Metadata& metadata) {
  const bool is_sentence_piece = model_ == kSentencePiece;
  const PreTokenizerRules* rules = is_sentence_piece ? nullptr : find_pre_tokenizer_rules(pre_);
  const bool usually_adds_bos = is_sentence_piece || (rules != nullptr && rules->adds_bos);
  TRY_ASSIGN(adds_bos_, metadata.get_bool_or("tokenizer.ggml.add_bos_token", usually_adds_bos));
  TRY_ASSIGN(adds_eos_, metadata.get_bool_or("tokenizer.ggml.add_eos_token", false));
  TRY_ASSIGN(adds_space_prefix_, metadata.get_bool_or("tokenizer.ggml.add_space_prefix", is_sentence_piece));
  TRY_ASSIGN(removes_extra_whitespaces_, metadata.get_bool_or("tokenizer.ggml.remove_extra_whitespaces", false));
  adds_bos_ = adds_bos_ && bos().has_value();
  adds_eos_ = adds_eos_ && eos().has_value();
  // Phi-3's tokenizer file says this of its special tokens; GGUF has no place for it but the model's name.
  TRY_ASSIGN(const std::string name, metadata.get_string_or("general.name", ""));
  const std::string lower = lower_case(name);
  strips_after_special_ = lower.find("phi-3") != std::string::npos || lower.find("phi3") != std::string::npos;
  return {};
}

std::optional<int32_t> Vocabulary::first_of(std::span<const std::string_view> texts) const {
  for (std::string_view text : texts) {
    if (const auto id = find(text)) return id;
  }
  return std::nullopt;
}

// A token that looks like one of these is one, whatever type the file gave it: user text must not be able to write it.
void Vocabulary::find_roles_by_text() {
  for (const KnownRole& known : known_roles()) {
    int32_t& id = roles_[static_cast<size_t>(known.role)];
    const auto found = id < 0 ? first_of(known.texts) : std::nullopt;
    if (!found) continue;
    id = *found;
    types_[static_cast<size_t>(id)] = TokenType::kControl;
  }
}

void Vocabulary::collect_end_of_generation() {
  for (TokenRole ender : {TokenRole::kEos, TokenRole::kEot, TokenRole::kEom, TokenRole::kFimPad, TokenRole::kFimRepo,
                          TokenRole::kFimSeparator}) {
    if (const auto id = role(ender)) end_of_generation_.push_back(*id);
  }
  // <|end|> ends a message inside an answer where <|return|> or <|flush|> ends the answer; Gemma 4's </s> is HTML.
  const bool has_calls = find("<|call|>") || find("<|calls|>");
  const bool end_is_inner = has_calls && (find("<|return|>") || find("<|flush|>"));
  const bool slash_s_is_text = find("<|tool_response>").has_value();
  for (std::string_view text : known_turn_enders()) {
    const auto id = find(text);
    if (!id || (slash_s_is_text && text == "</s>")) continue;
    types_[static_cast<size_t>(*id)] = TokenType::kControl;
    end_of_generation_.push_back(*id);
  }
  if (end_is_inner) std::erase(end_of_generation_, find("<|end|>").value_or(-1));
  std::sort(end_of_generation_.begin(), end_of_generation_.end());
  end_of_generation_.erase(std::unique(end_of_generation_.begin(), end_of_generation_.end()), end_of_generation_.end());
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  const int32_t id = index_.find(texts_, text);
  return id == StringIndex::kAbsent ? std::nullopt : std::optional<int32_t>(id);
}

std::optional<int32_t> Vocabulary::role(TokenRole role) const {
  const int32_t id = roles_[static_cast<size_t>(role)];
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

bool Vocabulary::ends_generation(int32_t id) const {
  return std::binary_search(end_of_generation_.begin(), end_of_generation_.end(), id);
}

bool Vocabulary::strips_after_special(int32_t id) const {
  if (!strips_after_special_) return false;
  const std::string_view token = text(id);
  return token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
}

}  // namespace ferrox
