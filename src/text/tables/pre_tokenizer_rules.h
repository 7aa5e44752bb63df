// Into which pieces does each byte-level BPE cut a text first? One row per name of `tokenizer.ggml.pre`.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace ferrox {

/// What becomes of the text that a pattern matches.
enum class Cut {
  kNone,            ///< unused row entry
  kWhole,           ///< one piece
  kTriplesFromEnd,  ///< pieces of three characters counted from its end: 1234567 is 1|234|567
};

/// One pass over every piece of the pass before: matches are pieces, and so is what lies between matches.
/// A pattern is PCRE2 syntax in UTF mode, `\s` standing for Unicode's White_Space.
struct PreTokenizerPass {
  std::string_view pattern;
  Cut cut = Cut::kNone;
};

enum class WholeWords { kMerge, kLookUpFirst };

struct PreTokenizerRules {
  std::string_view name;
  std::array<PreTokenizerPass, 6> passes;
  WholeWords whole_words = WholeWords::kMerge;  ///< kLookUpFirst: a piece that is a token isn't merged from bytes
  bool adds_bos = false;                        ///< unless the file says otherwise
};

/// Every known row, sorted as written.
std::span<const PreTokenizerRules> all_pre_tokenizer_rules();

/// The row called `name`, or nullptr.
const PreTokenizerRules* find_pre_tokenizer_rules(std::string_view name);

}  // namespace ferrox
