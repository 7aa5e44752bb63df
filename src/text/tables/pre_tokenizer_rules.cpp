// Into which pieces does each byte-level BPE cut a text first? One row per name of `tokenizer.ggml.pre`.
//
// The patterns are those of the models' own tokenizer files, but for these liberties: contractions are ASCII (their
// `(?i:'s)` also takes U+017F); an ideographic space is white space, never DeepSeek LLM's punctuation; possessive
// quantifiers replace repeated groups, which cost stack for every turn; and look-aheads over all the digits that
// follow, which would be quadratic, are Cut::kTriplesFromEnd.
#include "text/tables/pre_tokenizer_rules.h"

namespace ferrox {
namespace {

#define CONTRACTION "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
#define SPACES_BEFORE_WORD R"(|\s+(?!\S))"
#define LINE_ENDS R"(|\s*[\r\n]+)"
// Where space runs come out in several pieces: not looked for again inside a run, whose first piece has looked.
#define LINE_ENDS_ONCE R"(|(?<![^\S\r\n])\s*[\r\n]+)"
#define WORD R"(|[^\r\n\p{L}\p{N}]?\p{L}+)"
#define SYMBOLS R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define SYMBOLS_AND_SLASHES R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)"
// A word may change from upper to lower case once; the first alternative wants a lower-case tail, the second a head.
#define CASED_TAIL R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
#define CASED_HEAD R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
// The same without Han characters: the classes are written as what they exclude.
#define NO_HAN_UPPER R"([^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}])"
#define NO_HAN_LOWER R"([^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}])"
#define ASCII_MARK R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])"

#define GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)" SPACES_BEFORE_WORD
#define LLAMA3 CONTRACTION WORD R"(|\p{N}{1,3})" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)"
#define QWEN2 CONTRACTION WORD R"(|\p{N})" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)"
#define CASED_WORDS CASED_TAIL "(?:" CONTRACTION ")?" CASED_HEAD "(?:" CONTRACTION ")?"
#define GPT4O CASED_WORDS R"(|\p{N}{1,3})" SYMBOLS_AND_SLASHES LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)"
#define MARKED_WORDS ASCII_MARK R"([A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
#define DEEPSEEK3 MARKED_WORDS R"(| ?[\p{P}\p{S}]+[\r\n]*)" LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)"
#define BLOOM R"( ?[^(\s|.,!?…。，、।۔،)]+)"

// Letters that have two cases (Unicode 11), as the DeepSeek LLM tokenizer lists them.
#define CASED_LETTERS                                                                                         \
  R"(A-Za-z\xB5\xC0-\xD6\xD8-\xF6\xF8-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373})"   \
  R"(\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5})"        \
  R"(\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD})"       \
  R"(\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15})" \
  R"(\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"           \
  R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})"          \
  R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"  \
  R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})"   \
  R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"   \
  R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"  \
  R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})" \
  R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"        \
  R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"

constexpr PreTokenizerPass whole(std::string_view pattern) { return {pattern, Cut::kWhole}; }

constexpr PreTokenizerPass kDigit = whole(R"(\p{N})");
constexpr PreTokenizerPass kDigitTriples = whole(R"(\p{N}{1,3})");
constexpr PreTokenizerPass kDigitsFromEnd = {R"(\p{Nd}++)", Cut::kTriplesFromEnd};
constexpr PreTokenizerPass kNumberFromEnd = {R"((?<!\d)\d++\b)", Cut::kTriplesFromEnd};  // a number that ends a word
constexpr PreTokenizerPass kGpt2 = whole(GPT2);
constexpr PreTokenizerPass kLlama3 = whole(LLAMA3);
constexpr PreTokenizerPass kQwen2 = whole(QWEN2);
constexpr PreTokenizerPass kGpt4o = whole(GPT4O);
constexpr PreTokenizerPass kDeepseek3 = whole(DEEPSEEK3);
constexpr PreTokenizerPass kBloom = whole(BLOOM);
constexpr PreTokenizerPass kLineEnd = whole(R"([\r\n])");
constexpr PreTokenizerPass kLines = whole(R"([^\n]+|\n+)");
constexpr PreTokenizerPass kThreeAsciiDigits = whole("[0-9][0-9][0-9]");
constexpr PreTokenizerPass kChineseAndJapanese = whole(R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)");
constexpr PreTokenizerPass kChineseAndKorean = whole(R"([\x{800}-\x{9FA5}\x{AC00}-\x{D7FF}]+)");
constexpr PreTokenizerPass kBailing = whole("'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])" WORD R"(|\p{N})" SYMBOLS
                                            R"(|\s*[\r\n])" SPACES_BEFORE_WORD R"(|\s+)");
constexpr PreTokenizerPass kTekken =
    whole(CASED_TAIL CASED_HEAD R"(|\p{N})" SYMBOLS_AND_SLASHES LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)");
constexpr PreTokenizerPass kKimiK2 =
    whole(R"(\p{Han}+|[^\r\n\p{L}\p{N}]?)" NO_HAN_UPPER "*" NO_HAN_LOWER "+(?:" CONTRACTION
          R"()?|[^\r\n\p{L}\p{N}]?)" NO_HAN_UPPER "+" NO_HAN_LOWER "*(?:" CONTRACTION
          R"()?|\p{N}{1,3})" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)");

using enum WholeWords;
constexpr bool kAddsBos = true;

constexpr PreTokenizerRules kRules[] = {
    {"default", {whole(R"([\p{P}\$\+<=>\^~\|]+)"), kGpt2, whole(R"(\p{N}+)"), kThreeAsciiDigits}},

    {"llama3", {kLlama3}, kLookUpFirst, kAddsBos},
    {"llama-v3", {kLlama3}, kLookUpFirst, kAddsBos},
    {"llama-bpe", {kLlama3}, kLookUpFirst, kAddsBos},
    {"falcon3", {kLlama3}, kLookUpFirst, kAddsBos},
    {"falcon-h1", {kLlama3}, kLookUpFirst, kAddsBos},
    {"pixtral", {kLlama3}, kLookUpFirst, kAddsBos},
    {"midm-2.0", {kLlama3}, kLookUpFirst, kAddsBos},
    {"lfm2", {kLlama3}, kLookUpFirst, kAddsBos},
    {"jina-v5-nano", {kLlama3}, kLookUpFirst, kAddsBos},
    {"dbrx", {kLlama3}},
    {"smaug-bpe", {kLlama3}},
    {"chatglm-bpe", {kLlama3}},
    {"glm4", {kLlama3}, kLookUpFirst},
    {"glm5", {kLlama3}, kLookUpFirst},
    {"jais-2",
     {whole(CONTRACTION WORD
            R"(|\p{N}{1,3})" SYMBOLS LINE_ENDS_ONCE
            R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S))"
            R"(|\s{4}(?!\S)|\s{1,2}(?!\S)|\s)")}},
    {"minicpm5",
     {kDigitTriples, whole(CONTRACTION WORD R"(|\p{N}+)" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)")},
     kLookUpFirst},
    {"k2-horizon",
     {whole(CONTRACTION
            R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}\x{200C}\x{200D}]+|\p{N}{1,3})" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD
            R"(|\s+)")}},

    {"qwen2", {kQwen2}},
    {"deepseek-r1-qwen", {kQwen2}},
    {"kormo", {kQwen2}},
    {"f2llmv2", {kQwen2}},
    {"megrez", {kQwen2}},
    {"stablelm2", {kQwen2}},
    {"hunyuan", {kQwen2}},
    {"solar-open", {kQwen2}},
    {"grok-2", {kQwen2}},
    {"laguna", {kLines, kQwen2}},
    {"qwen35",
     {whole(CONTRACTION
            R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" LINE_ENDS SPACES_BEFORE_WORD
            R"(|\s+)")}},
    {"ufakzeka", {whole(R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" SYMBOLS LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)")}},
    {"seed-coder", {whole(CONTRACTION WORD R"(|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)")}},
    {"bailingmoe", {kBailing}},
    {"bailingmoe2", {kBailing}},
    {"llada-moe", {kBailing}},
    {"exaone-moe",
     {whole(CONTRACTION R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?)"
                        R"(|\s*[\r\n])" SPACES_BEFORE_WORD R"(|\s+)")}},

    {"deepseek-llm",
     {kLineEnd, whole(R"(\s?[)" CASED_LETTERS "]+"),
      whole(R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3001}\x{3002}]+)"), whole(R"(\s+$)"),
      kChineseAndKorean, whole(R"(\p{N}+)")}},
    {"deepseek-coder", {kLineEnd, whole(R"(\s?\p{L}+)"), whole(R"(\s?\p{P}+)"), kChineseAndKorean, kDigit}},
    {"deepseek-v3", {kDigitTriples, kChineseAndJapanese, kDeepseek3}},
    {"hunyuan-dense", {kDigitTriples, kChineseAndJapanese, kDeepseek3}},
    {"hy_v4", {kDigitTriples, kChineseAndJapanese, kDeepseek3}},
    {"joyai-llm", {kDigitTriples, kChineseAndJapanese, kDeepseek3}},
    {"spark2_5",
     {kDigitTriples, kChineseAndJapanese, whole(MARKED_WORDS R"(| ?[\p{P}\p{S}]+|[\r\n])" SPACES_BEFORE_WORD R"(|\s+)"),
      kDigit}},
    {"afmoe",
     {kDigitsFromEnd,
      whole(R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{30FF}\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF})"
            R"(\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF})"
            R"(\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)"),
      kDeepseek3}},

    {"falcon", {whole(R"([\p{P}\$\+<=>\^~\|`]+)"), kGpt2, kThreeAsciiDigits}},
    {"starcoder", {kDigit, kGpt2}},
    {"refact", {kDigit, kGpt2}},
    {"command-r", {kDigit, kGpt2}},
    {"smollm", {kDigit, kGpt2}},
    {"codeshell", {kDigit, kGpt2}},
    {"exaone", {kDigit, kGpt2}},
    {"minerva-7b", {kDigit, kGpt2}},
    {"mellum2", {kDigit, kGpt2}},

    {"gpt-2", {kGpt2}},
    {"phi-2", {kGpt2}},
    {"mpt", {kGpt2}},
    {"olmo", {kGpt2}},
    {"jais", {kGpt2}},
    {"trillion", {kGpt2}},
    {"granite-docling", {kGpt2}},
    {"gigachat", {kGpt2}},
    {"a.x-4.0", {kGpt2}},
    {"mellum", {kGpt2}},
    {"modern-bert", {kGpt2}},
    {"exaone4", {kGpt2}},
    {"roberta-bpe", {kGpt2}},
    {"jina-es", {kGpt2}},
    {"jina-de", {kGpt2}},
    {"jina-v1-en", {kGpt2}},
    {"jina-v2-es", {kGpt2}},
    {"jina-v2-de", {kGpt2}},
    {"jina-v2-code", {kGpt2}},

    {"gpt-4o", {kGpt4o}},
    {"llama4", {kGpt4o}},
    {"kanana2", {kGpt4o}},
    {"talkie", {kGpt4o}},
    {"minimax-m2", {kGpt4o}},
    {"granite-embed-multi-97m", {kGpt4o}, kLookUpFirst},
    {"tiny_aya", {kNumberFromEnd, kGpt4o}},
    {"cohere2moe", {kNumberFromEnd, kGpt4o}},
    {"tekken", {kTekken}, kLookUpFirst, kAddsBos},
    {"kimi-k2", {kKimiK2}},
    {"youtu",
     {whole(R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[！…“”‘’—：；，\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+)"
            R"(|[\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)"),
      whole(CASED_WORDS R"(|\p{N})" SYMBOLS_AND_SLASHES LINE_ENDS SPACES_BEFORE_WORD R"(|\s+)")},
     kLookUpFirst},

    {"bloom", {kBloom}},
    {"poro-chat", {kBloom}},
    {"gpt3-finnish", {kBloom}},
    {"viking", {kBloom, kDigit}},
    {"chameleon",
     {whole("<sentinel:[0-9]+>"), whole("IMGIMG[A-I]{1,4}Z"), whole(R"([\t\n]|    |  )"), kDigit,
      whole(R"([\p{P}!-/:-@\[-`{-~])"), kGpt2},
     kMerge,
     kAddsBos},
};

}  // namespace

std::span<const PreTokenizerRules> all_pre_tokenizer_rules() { return kRules; }

const PreTokenizerRules* find_pre_tokenizer_rules(std::string_view name) {
  for (const PreTokenizerRules& rules : kRules) {
    if (rules.name == name) return &rules;
  }
  return nullptr;
}

}  // namespace ferrox
