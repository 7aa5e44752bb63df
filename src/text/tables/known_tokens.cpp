// Which token texts mean something in themselves? Files often leave the role of such tokens unsaid.
#include "text/tables/known_tokens.h"

namespace ferrox {
namespace {

// U+FF5C and U+2581 are what DeepSeek draws its bars and spaces with.
constexpr std::string_view kEot[] = {
    "<|eot_id|>",        "<|im_end|>", "<end_of_turn>", "<|end|>", "<|endoftext|>",
    "<|end_of_text|>",   "<EOT>",      "_<EOT>",        "[EOT]",   "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
    "<end_of_utterance>"};
constexpr std::string_view kEom[] = {"<|eom_id|>"};
constexpr std::string_view kFimPrefix[] = {
    "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",    "<\uFF5Cfim\u2581begin\uFF5C>",
    "<PRE>",          "\u2581<PRE>",  "<|code_prefix|>", "<|prefix|>"};
constexpr std::string_view kFimSuffix[] = {
    "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<\uFF5Cfim\u2581hole\uFF5C>",
    "<SUF>",          "\u2581<SUF>",  "<|code_suffix|>", "<|suffix|>"};
constexpr std::string_view kFimMiddle[] = {
    "<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<\uFF5Cfim\u2581end\uFF5C>",
    "<MID>",          "\u2581<MID>",  "<|code_middle|>", "<|middle|>"};
constexpr std::string_view kFimPad[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::string_view kFimRepo[] = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"};
constexpr std::string_view kFimSeparator[] = {"<|file_sep|>"};

constexpr KnownRole kRoles[] = {
    {TokenRole::kBos, "tokenizer.ggml.bos_token_id", "", {}},
    {TokenRole::kEos, "tokenizer.ggml.eos_token_id", "", {}},
    {TokenRole::kEot, "tokenizer.ggml.eot_token_id", "", kEot},
    {TokenRole::kEom, "tokenizer.ggml.eom_token_id", "", kEom},
    {TokenRole::kUnknown, "tokenizer.ggml.unknown_token_id", "", {}},
    {TokenRole::kSeparator, "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.separator_token_id", {}},  // sic
    {TokenRole::kPadding, "tokenizer.ggml.padding_token_id", "", {}},
    {TokenRole::kMask, "tokenizer.ggml.mask_token_id", "", {}},
    {TokenRole::kFimPrefix, "tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id", kFimPrefix},
    {TokenRole::kFimSuffix, "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id", kFimSuffix},
    {TokenRole::kFimMiddle, "tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id", kFimMiddle},
    {TokenRole::kFimPad, "tokenizer.ggml.fim_pad_token_id", "", kFimPad},
    {TokenRole::kFimRepo, "tokenizer.ggml.fim_rep_token_id", "", kFimRepo},
    {TokenRole::kFimSeparator, "tokenizer.ggml.fim_sep_token_id", "", kFimSeparator},
};
static_assert(std::size(kRoles) == kNumTokenRoles);

constexpr std::string_view kTurnEnders[] = {"<|eot_id|>",
                                            "<|im_end|>",
                                            "<|end|>",
                                            "<|return|>",
                                            "<|call|>",
                                            "<|calls|>",
                                            "<|flush|>",
                                            "<end_of_turn>",
                                            "<turn|>",
                                            "<|tool_response>",
                                            "<|endoftext|>",
                                            "<|end_of_text|>",
                                            "</s>",
                                            "<eos>",
                                            "<|eom_id|>",
                                            "<EOT>",
                                            "_<EOT>",
                                            "[EOT]",
                                            "[EOS]",
                                            "[e~[",
                                            "<end_of_utterance>",
                                            "<|ifm|im_end|>",
                                            "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"};

}  // namespace

std::span<const KnownRole> known_roles() { return kRoles; }

std::span<const std::string_view> known_turn_enders() { return kTurnEnders; }

}  // namespace ferrox
