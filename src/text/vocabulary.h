// Which tokens does a model have, and what are they for?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/string_table.h"

namespace ferrox {

/// What kind of token it is; numbers as in `tokenizer.ggml.token_type`.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,      ///< stands for what the vocabulary can't spell
  kControl = 3,      ///< structure, never text: only a template may write it
  kUserDefined = 4,  ///< text that is matched before anything else
  kUnused = 5,
  kByte = 6,  ///< one byte, spelled <0x41>
};

/// Roles that a token may have; each has at most one.
enum class TokenRole {
  kBos,
  kEos,
  kEot,  ///< end of turn
  kEom,  ///< end of message: the turn goes on after a tool's answer
  kUnknown,
  kSeparator,
  kPadding,
  kMask,
  kFimPrefix,
  kFimSuffix,
  kFimMiddle,
  kFimPad,
  kFimRepo,
  kFimSeparator,
};
inline constexpr size_t kNumTokenRoles = 14;

/// The `tokenizer.ggml.*` entries of a model file, checked and owned: it needs the file no longer.
class Vocabulary {
 public:
  /// Errors: kNotFound when the file has no vocabulary (tokens absent, or model "no_vocab" or "none"); kCorrupt for
  /// counts that differ, ids out of range, scores that aren't numbers and unknown types, each named.
  static Result<Vocabulary> load(const Metadata& metadata);

  const std::string& model() const { return model_; }  ///< tokenizer.ggml.model: "gpt2", "llama", ...
  const std::string& pre() const { return pre_; }      ///< tokenizer.ggml.pre, "default" when absent
  int32_t size() const { return static_cast<int32_t>(types_.size()); }
  bool contains(int64_t id) const { return id >= 0 && id < size(); }

  // Of one token; `id` must be contained.
  std::string_view text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }  ///< as the file spells it
  float score(int32_t id) const { return scores_.empty() ? 0.0F : scores_[static_cast<size_t>(id)]; }
  TokenType type(int32_t id) const { return types_[static_cast<size_t>(id)]; }
  bool is_control(int32_t id) const { return type(id) == TokenType::kControl; }

  bool has_scores() const { return !scores_.empty(); }

  /// The token spelled exactly `text`; the lowest id when several are.
  std::optional<int32_t> find(std::string_view text) const;

  /// Starts bringing in what a following find of `text` will touch.
  void prefetch(std::string_view text) const { index_.prefetch(text); }

  std::optional<int32_t> role(TokenRole role) const;
  std::optional<int32_t> bos() const { return role(TokenRole::kBos); }
  std::optional<int32_t> eos() const { return role(TokenRole::kEos); }

  /// Tokens that end an answer, ascending: the file's eos, eot and eom, and the known turn enders it has.
  std::span<const int32_t> end_of_generation() const { return end_of_generation_; }
  bool ends_generation(int32_t id) const;

  bool adds_bos() const { return adds_bos_; }  ///< a prompt begins with bos(); true only if there is one
  bool adds_eos() const { return adds_eos_; }
  bool adds_space_prefix() const { return adds_space_prefix_; }
  bool removes_extra_whitespaces() const { return removes_extra_whitespaces_; }

  /// Control tokens of this model swallow the white space after them.
  bool strips_after_special(int32_t id) const;

 private:
  Vocabulary() = default;
  Result<void> load_tokens(const Metadata& metadata);
  Result<void> load_scores(const Metadata& metadata);
  Result<void> load_types(const Metadata& metadata);
  Result<void> load_roles(const Metadata& metadata);
  Result<void> load_flags(const Metadata& metadata);
  void find_roles_by_text();
  void collect_end_of_generation();
  std::optional<int32_t> first_of(std::span<const std::string_view> texts) const;

  std::string model_;
  std::string pre_;
  StringTable texts_;
  StringIndex index_;
  std::vector<float> scores_;  // empty when the file has none
  std::vector<TokenType> types_;
  std::array<int32_t, kNumTokenRoles> roles_;  // -1: none
  std::vector<int32_t> end_of_generation_;
  bool adds_bos_ = false;
  bool adds_eos_ = false;
  bool adds_space_prefix_ = false;
  bool removes_extra_whitespaces_ = false;
  bool strips_after_special_ = false;
};

}  // namespace ferrox
