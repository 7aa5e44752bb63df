#include "cli/load_test_options.h"

#include "cli/option_table.h"
#include "cli/tls_options.h"

namespace ferrox {
namespace {

constexpr const char* kTarget = "Server";
constexpr const char* kLoad = "Load";
constexpr const char* kShape = "Scenario";

/// Options that say something of one scenario alone.
struct OwnOption {
  const char* flag;
  ScenarioKind kind;
};

constexpr OwnOption kOwnOptions[] = {
    {"--prefix-tokens", ScenarioKind::kSharedPrefix}, {"--turns", ScenarioKind::kMultiTurn},
    {"--long-tokens", ScenarioKind::kMixed},          {"--long-share", ScenarioKind::kMixed},
    {"--cancel-share", ScenarioKind::kCancelHeavy},
};

template <class T>
CLI::Option* add_number(CLI::App& app, const char* group, const char* flag, T& value, double lowest, double highest,
                        const char* help) {
  CLI::Option* option =
      app.add_option(flag, value, help)->capture_default_str()->check(number_within(lowest, highest))->group(group);
  return std::is_integral_v<T> ? option->check(whole_number()) : option;
}

/// Its default, none, isn't shown.
CLI::Option* add_limit(CLI::App& app, const char* group, const char* flag, std::optional<double>& value, double lowest,
                       double highest, const char* help) {
  return app.add_option(flag, value, help)->check(number_within(lowest, highest))->group(group);
}

CLI::Option* add_text(CLI::App& app, const char* group, const char* flag, std::string& value, const std::string& help) {
  return app.add_option(flag, value, help)->capture_default_str()->check(not_empty())->group(group);
}

/// A validator from a function that gives a Result.
template <class Parse>
CLI::Validator parsed_by(Parse parse) {
  const auto check = [parse](const std::string& text) {
    const auto value = parse(text);
    return value ? std::string() : value.error().message;
  };
  return CLI::Validator([check](std::string& text) { return check(text); }, "");
}

CLI::Validator one_of(const char* first, const char* second) {
  const auto check = [first, second](std::string& text) {
    if (text == first || text == second) return std::string();
    return fmt::format("expected {} or {}, found '{}'", first, second, text);
  };
  return CLI::Validator(check, "");
}

void add_target(CLI::App& app, LoadTestArguments& arguments) {
  add_text(app, kTarget, "--url", arguments.url,
           "the server, http://host:port or https://host:port; a path before /v1 may follow");
  add_text(app, kTarget, "--api-key", arguments.api_key, "the key that it asks for");
  add_text(app, kTarget, "--model", arguments.model, "the model's name, for servers that want one");
  add_text(app, kTarget, "--endpoint", arguments.endpoint, "chat or completions")->check(one_of("chat", "completions"));
  add_number(app, kTarget, "--timeout", arguments.timeout_s, 0.001, 86'400, "most seconds for one request");
  app.add_flag("--ignore-eos", arguments.ignore_eos,
               "ask for answers of full length; a field of ferrox, llama.cpp, vLLM and others")
      ->group(kTarget);
  app.add_flag("--no-keep-alive", arguments.closes_connections,
               "a connection for each request; otherwise one carries the next, as OpenAI's clients have it")
      ->group(kTarget);
  add_tls_options(app, arguments.tls, kTarget);
}

void add_shape(CLI::App& app, LoadTestArguments& arguments) {
  ScenarioOptions& shape = arguments.shape;
  add_text(app, kShape, "--scenario", arguments.scenario, scenario_names())->check(parsed_by(parse_scenario));
  add_number(app, kShape, "--requests", shape.n_requests, 1, 1'000'000, "requests to send");
  add_text(app, kShape, "--prompt-tokens", arguments.prompt_tokens,
           "words of a prompt (a token or so each), N or A:B; of a turn, or behind the prefix");
  add_number(app, kShape, "--output-tokens", shape.output_tokens, 1, 1'000'000, "most tokens of an answer");
  add_number(app, kShape, "--prefix-tokens", shape.prefix_words, 1, 10'000'000,
             "shared-prefix: words that all prompts begin with");
  add_number(app, kShape, "--turns", shape.n_turns, 1, 10'000, "multi-turn: requests of one conversation");
  add_text(app, kShape, "--long-tokens", arguments.long_tokens, "mixed: words of a long prompt, N or A:B");
  add_number(app, kShape, "--long-share", shape.long_share, 0, 1, "mixed: share of long prompts");
  add_number(app, kShape, "--cancel-share", shape.cancel_share, 0, 1, "cancel-heavy: share of requests to drop");
  add_number(app, kShape, "--seed", shape.seed, 0, 9e15, "the same seed asks the same");
  add_number(app, kShape, "--warmup", arguments.n_warmup, 0, 1'000'000, "requests before those that are measured");
}

void add_load(CLI::App& app, LoadTestArguments& arguments) {
  add_number(app, kLoad, "--concurrency", arguments.concurrency, 1, 100'000,
             "conversations at once; the next one begins when one ends");
  add_limit(app, kLoad, "--rate", arguments.rate, 1e-6, 1e6, "requests a second, whether others are answered or not");
  add_text(app, kLoad, "--arrival", arguments.arrival, "gaps of --rate: poisson or constant")
      ->check(one_of("poisson", "constant"));
  add_limit(app, kLoad, "--slo-ttft-ms", arguments.level.ttft_ms, 1e-3, 1e9,
            "goodput: most milliseconds until the first token");
  add_limit(app, kLoad, "--slo-itl-ms", arguments.level.itl_ms, 1e-3, 1e9,
            "goodput: most milliseconds between tokens, a request's average");
}

Result<void> refuse_idle_options(const CLI::App& app, ScenarioKind kind) {
  for (const auto& own : kOwnOptions) {
    if (own.kind == kind || app.count(own.flag) == 0) continue;
    return make_error(ErrorCode::kInvalidArgument, "{}: expected it beside --scenario {}, found --scenario {}",
                      own.flag, scenario_name(own.kind), scenario_name(kind));
  }
  if (app.count("--rate") > 0 && app.count("--concurrency") > 0) {
    return make_error(ErrorCode::kInvalidArgument,
                      "--concurrency: expected it without --rate, whose requests wait for nobody, found both");
  }
  if (app.count("--arrival") > 0 && app.count("--rate") == 0) {
    return make_error(ErrorCode::kInvalidArgument, "--arrival: expected it beside --rate, found no --rate");
  }
  return {};
}

std::optional<ArrivalOptions> arrivals_of(const LoadTestArguments& arguments, const ScenarioOptions& scenario) {
  if (!arguments.rate) return std::nullopt;
  ArrivalOptions arrivals;
  arrivals.kind = arguments.arrival == "poisson" ? ArrivalKind::kPoisson : ArrivalKind::kConstant;
  arrivals.rate = *arguments.rate;
  if (scenario.kind == ScenarioKind::kMultiTurn) arrivals.rate /= static_cast<double>(scenario.n_turns);
  arrivals.seed = scenario.seed;
  return arrivals;
}

}  // namespace

void add_load_test_options(CLI::App& app, LoadTestArguments& arguments) {
  add_target(app, arguments);
  add_shape(app, arguments);
  add_load(app, arguments);
}

Result<LoadTest> resolve_load_test(const CLI::App& app, const LoadTestArguments& arguments) {
  LoadTest test;
  test.scenario = arguments.shape;
  TRY_ASSIGN(test.scenario.kind, parse_scenario(arguments.scenario));
  TRY(refuse_idle_options(app, test.scenario.kind));
  TRY_ASSIGN(test.scenario.prompt_words, parse_size_range("--prompt-tokens", arguments.prompt_tokens));
  TRY_ASSIGN(test.scenario.long_words, parse_size_range("--long-tokens", arguments.long_tokens));
  TRY_ASSIGN(test.load.url, parse_http_url("--url", arguments.url));
  TRY(check_tls_options(arguments.tls, test.load.url));
  test.load.tls = arguments.tls;
  test.load.connections = arguments.closes_connections ? ConnectionUse::kOnce : ConnectionUse::kKept;
  test.load.api_key = arguments.api_key;
  test.load.body = {arguments.endpoint == "chat" ? EndpointKind::kChat : EndpointKind::kCompletions, arguments.model,
                    arguments.ignore_eos};
  test.load.timeout = std::chrono::milliseconds(static_cast<int64_t>(arguments.timeout_s * 1000));
  test.load.concurrency = arguments.concurrency;
  test.load.arrivals = arrivals_of(arguments, test.scenario);
  test.load.handle_signals = true;
  return test;
}

LoadTest warmup_of(const LoadTest& test, const LoadTestArguments& arguments) {
  LoadTest warmup = test;
  warmup.scenario.kind = ScenarioKind::kDistinct;
  warmup.scenario.n_requests = arguments.n_warmup;
  warmup.scenario.seed = ~test.scenario.seed;
  warmup.load.arrivals.reset();
  return warmup;
}

}  // namespace ferrox
