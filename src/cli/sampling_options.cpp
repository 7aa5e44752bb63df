#include "cli/sampling_options.h"

#include <charconv>
#include <cmath>
#include <random>

#include "base/log.h"
#include "cli/nearest_name.h"
#include "cli/option_table.h"
#include "engine/sampler_names.h"

namespace ferrox {
namespace {

constexpr const char* kGroup = "Sampling";
constexpr double kMaxCount = 1 << 30;

constexpr OptionRow<SamplingParams> kRows[] = {
    {"--temp,--temperature", &SamplingParams::temperature, 0, 100, "randomness; 0 always takes the likeliest token"},
    {"--top-k", &SamplingParams::top_k, 0, kMaxCount, "keep the k likeliest tokens; 0: all"},
    {"--top-p", &SamplingParams::top_p, 0, 1, "keep the likeliest tokens that add up to p; 1: all"},
    {"--min-p", &SamplingParams::min_p, 0, 1, "drop tokens less likely than this share of the likeliest; 0: none"},
    {"--typical,--typical-p", &SamplingParams::typical_p, 0, 1, "locally typical sampling; 1: off"},
    {"--top-n-sigma,--top-nsigma", &SamplingParams::top_n_sigma, -1, 100, "keep logits within n deviations; -1: off"},
    {"--xtc-probability", &SamplingParams::xtc_probability, 0, 1, "chance to exclude top choices; 0: off"},
    {"--xtc-threshold", &SamplingParams::xtc_threshold, 0, 1, "tokens above it may be excluded; over 0.5: off"},
    {"--repeat-last-n", &SamplingParams::repeat_last_n, -1, kMaxCount, "tokens that penalties look back at; -1: all"},
    {"--repeat-penalty", &SamplingParams::repeat_penalty, 0, 100, "divides logits of repeated tokens; 1: off"},
    {"--presence-penalty", &SamplingParams::presence_penalty, -100, 100, "taken off once for a repeated token"},
    {"--frequency-penalty", &SamplingParams::frequency_penalty, -100, 100, "taken off for each repetition"},
    {"--dry-multiplier", &SamplingParams::dry_multiplier, 0, 100, "strength of the penalty on repeated runs; 0: off"},
    {"--dry-base", &SamplingParams::dry_base, 1, 100, "growth of that penalty with a run's length"},
    {"--dry-allowed-length", &SamplingParams::dry_allowed_length, 0, kMaxCount, "longest run without penalty"},
    {"--dry-penalty-last-n", &SamplingParams::dry_penalty_last_n, -1, kMaxCount, "tokens it looks back at; -1: all"},
    {"--dynatemp-range", &SamplingParams::dynatemp_range, 0, 100, "temperature moves by this with entropy; 0: off"},
    {"--dynatemp-exp", &SamplingParams::dynatemp_exponent, 0, 100, "exponent of that movement"},
    {"--mirostat", &SamplingParams::mirostat, 0, 2, "0: off, 1: Mirostat, 2: Mirostat 2.0"},
    {"--mirostat-ent", &SamplingParams::mirostat_tau, 0, 100, "Mirostat's target entropy"},
    {"--mirostat-lr", &SamplingParams::mirostat_eta, 0, 100, "Mirostat's learning rate"},
};

/// Options that do nothing without another one, and that one.
constexpr std::pair<const char*, const char*> kNeeds[] = {
    {"--xtc-threshold", "--xtc-probability"},
    {"--dynatemp-exp", "--dynatemp-range"},
    {"--mirostat-ent", "--mirostat"},
    {"--mirostat-lr", "--mirostat"},
    {"--dry-base", "--dry-multiplier"},
    {"--dry-allowed-length", "--dry-multiplier"},
    {"--dry-penalty-last-n", "--dry-multiplier"},
};

/// Tells which choices greedy sampling makes idle.
void warn_of_idle_choices(const SamplingParams& params) {
  if (params.temperature > 0.0f) return;
  const SamplingParams defaults;
  std::string idle;
  const auto check = [&](const char* flag, auto field) {
    if (params.*field != defaults.*field) idle += fmt::format(" {}", flag);
  };
  check("--top-k", &SamplingParams::top_k);
  check("--top-p", &SamplingParams::top_p);
  check("--min-p", &SamplingParams::min_p);
  check("--typical", &SamplingParams::typical_p);
  check("--top-n-sigma", &SamplingParams::top_n_sigma);
  check("--xtc-probability", &SamplingParams::xtc_probability);
  check("--dynatemp-range", &SamplingParams::dynatemp_range);
  check("--mirostat", &SamplingParams::mirostat);
  if (!idle.empty()) log().warn("--temp 0 takes the likeliest token, whatever is asked by{}", idle);
}

Result<SamplerKind> sampler_kind(const std::string& name) {
  if (const auto kind = find_sampler(name)) return *kind;
  std::vector<std::string> known;
  for (const SamplerName& row : kSamplerNames) known.emplace_back(row.name);
  const auto nearest = nearest_name(name, known);
  const std::string hint =
      nearest ? fmt::format("did you mean {}?", *nearest) : fmt::format("expected one of {}", fmt::join(known, ", "));
  return make_error(ErrorCode::kInvalidArgument, "--samplers: unknown sampler '{}'; {}", name, hint);
}

Result<std::vector<SamplerKind>> sampler_order(const std::string& names) {
  std::vector<SamplerKind> order;
  for (const auto& name : CLI::detail::split(names, ';')) {
    if (name.empty()) continue;
    TRY_ASSIGN(const auto kind, sampler_kind(name));
    order.push_back(kind);
  }
  return order;
}

Result<std::pair<int32_t, float>> logit_bias(const std::string& text) {
  const Error malformed =
      make_error(ErrorCode::kInvalidArgument, "--logit-bias: expected ID+BIAS or ID-BIAS, found '{}'", text);
  std::pair<int32_t, float> bias;
  const char* end = text.data() + text.size();
  const auto id = std::from_chars(text.data(), end, bias.first);
  if (id.ec != std::errc() || id.ptr == end || (*id.ptr != '+' && *id.ptr != '-')) return malformed;
  const char* number = *id.ptr == '+' ? id.ptr + 1 : id.ptr;
  const auto value = std::from_chars(number, end, bias.second);
  if (value.ec != std::errc() || value.ptr != end || !std::isfinite(bias.second)) return malformed;
  return bias;
}

uint64_t random_seed() {
  std::random_device device;
  return device();
}

}  // namespace

void add_sampling_options(CLI::App& app, SamplingArguments& arguments) {
  app.add_option("-s,--seed", arguments.seed, "the same seed gives the same text; -1: a random one")
      ->capture_default_str()
      ->check(number_within(-1, 9.2e18))
      ->group(kGroup);
  add_options<SamplingParams>(app, kGroup, kRows, arguments.params);
  for (const auto& [flag, needed] : kNeeds) app.get_option(flag)->needs(app.get_option(needed));
  add_repeatable(app, "--dry-sequence-breaker", arguments.dry_breakers,
                 "text that ends a run, repeatable; \"none\": none")
      ->group(kGroup);
  app.add_option("--samplers", arguments.samplers, "the chain, in order: names joined by ';'")
      ->check(not_empty())
      ->group(kGroup);
  add_repeatable(app, "-l,--logit-bias", arguments.logit_biases, "ID+BIAS or ID-BIAS, repeatable")->group(kGroup);
}

Result<SamplingParams> resolve_sampling(const SamplingArguments& arguments) {
  SamplingParams params = arguments.params;
  params.seed = arguments.seed < 0 ? random_seed() : static_cast<uint64_t>(arguments.seed);
  if (!arguments.samplers.empty()) {
    TRY_ASSIGN(params.order, sampler_order(arguments.samplers));
  }
  if (!arguments.dry_breakers.empty()) params.dry_sequence_breakers = arguments.dry_breakers;
  if (arguments.dry_breakers == std::vector<std::string>{"none"}) params.dry_sequence_breakers.clear();
  for (const auto& text : arguments.logit_biases) {
    TRY_ASSIGN(const auto bias, logit_bias(text));
    params.logit_bias.push_back(bias);
  }
  warn_of_idle_choices(params);
  return params;
}

}  // namespace ferrox
