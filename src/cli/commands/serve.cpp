// How is a model served over HTTP? Until SIGTERM or Ctrl-C, which let running requests finish.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/log.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/engine_session.h"
#include "cli/input_text.h"
#include "cli/load_options.h"
#include "cli/option_table.h"
#include "server/keys/keys_file.h"
#include "server/server.h"

namespace ferrox {
namespace {

struct Arguments {
  LoadArguments load;
  ServerOptions server;
  std::string api_key_file;
  std::string keys_file;
  double timeout_s = 0;
  double drain_timeout_s = 15;
  double sleep_idle_s = 0;
  std::string response_bytes;
  double response_ttl_s = 3600;
};

Result<std::vector<std::string>> keys_of_file(const std::string& path) {
  TRY_ASSIGN(const auto text, read_text_file(path));
  std::vector<std::string> keys;
  for (auto& line : CLI::detail::split(text, '\n')) {
    CLI::detail::trim(line);
    if (!line.empty() && line[0] != '#') keys.push_back(line);
  }
  if (keys.empty()) return make_error(ErrorCode::kInvalidArgument, "{}: expected a key a line, found none", path);
  return keys;
}

Result<ServerOptions> resolve_server(const Arguments& arguments) {
  ServerOptions options = arguments.server;
  if (!arguments.api_key_file.empty()) {
    TRY_ASSIGN(const auto keys, keys_of_file(arguments.api_key_file));
    options.api_keys.insert(options.api_keys.end(), keys.begin(), keys.end());
  }
  if (!arguments.keys_file.empty()) {
    TRY_ASSIGN(const auto text, read_text_file(arguments.keys_file));
    TRY_ASSIGN(options.keys, parse_keys_file(text, arguments.keys_file));
  }
  TRY(check_keys(options));
  TRY(check_exposure(options));
  options.drain_timeout = std::chrono::milliseconds(static_cast<int64_t>(arguments.drain_timeout_s * 1000));
  options.sleep_idle = std::chrono::milliseconds(static_cast<int64_t>(arguments.sleep_idle_s * 1000));
  options.responses.ttl = std::chrono::seconds(static_cast<int64_t>(arguments.response_ttl_s));
  if (!arguments.response_bytes.empty()) {
    TRY_ASSIGN(const uint64_t bytes, parse_size_or_zero("--response-cache-bytes", arguments.response_bytes));
    options.responses.most_bytes = static_cast<int64_t>(std::min<uint64_t>(bytes, uint64_t{1} << 50));
  }
  return options;
}

Result<void> serve(EngineOptions engine_options, const ServerOptions& server_options) {
  TRY_ASSIGN(const auto engine, load_engine(std::move(engine_options)));
  TRY_ASSIGN(const auto server, Server::open(*engine, server_options));
  log().info("{}: {} positions a request, {} for keys and values", engine->model_id(), engine->context_length(),
             format_bytes(engine->kv_bytes()));
  log().info("listening on {}", server->url());
  if (server->run() == Server::Ended::kDiskHangs) {
    log().info("stopped without waiting for the disk");
    log().flush();
    std::_Exit(static_cast<int>(ExitCode::kSuccess));
  }
  log().info("stopped");
  return {};
}

ExitCode run(const Arguments& arguments) {
  const auto server_options = resolve_server(arguments);
  if (!server_options) return report_option(server_options.error());
  auto engine_options = resolve_load(arguments.load);
  if (!engine_options) return report_option(engine_options.error());
  engine_options->default_timeout_ms = static_cast<int64_t>(std::ceil(arguments.timeout_s * 1000));
  const auto served = serve(*engine_options, *server_options);
  return served ? ExitCode::kSuccess : report_failure(served.error());
}

constexpr OptionRow<ResponseCacheOptions> kResponseRows[] = {
    {"--response-cache", &ResponseCacheOptions::most_entries, 0, 1e9,
     "whole greedy or seeded answers that are kept and told again; 0: none"},
};

constexpr OptionRow<HeldStreamOptions> kStreamRows[] = {
    {"--resumable-streams", &HeldStreamOptions::most_streams, 0, 1e6,
     "streams that can be taken up again after a lost connection, each kept for 120 s with up to 1 MiB; 0: none"},
};

constexpr OptionRow<EngineOptions> kCapacityRows[] = {
    {"--parallel", &EngineOptions::n_parallel, 1, 4096, "most requests that run at once"},
    {"--max-queue", &EngineOptions::max_queue, 0, 1 << 20, "most requests that wait"},
    {"--max-gap-ms", &EngineOptions::max_gap_ms, 0, 1e9,
     "most milliseconds between two tokens of an answer while prompts of others load; 0: no limit"},
    {"-n,--predict,--n-predict,--default-max-tokens", &EngineOptions::default_max_tokens, -1, 1e12,
     "tokens of an answer without a limit"},
};

void add_server_options(CLI::App& app, Arguments& arguments) {
  constexpr const char* kGroup = "Server";
  ServerOptions& server = arguments.server;
  app.add_option("--host", server.host, "address to listen on")
      ->capture_default_str()
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--port", server.port, "port to listen on; 0: a free one")
      ->capture_default_str()
      ->check(number_within(0, 65535))
      ->check(whole_number())
      ->group(kGroup);
  add_repeatable(app, "--api-key", server.api_keys, "a key that callers must give, repeatable")
      ->delimiter(',')
      ->group(kGroup);
  app.add_option("--api-key-file", arguments.api_key_file, "keys, one a line")->check(not_empty())->group(kGroup);
  app.add_option("--keys-file", arguments.keys_file, "hashes of keys, with quotas and rights of each, as JSON")
      ->check(not_empty())
      ->group(kGroup);
  CLI::Option* const cert =
      app.add_option("--ssl-cert-file", server.tls_cert_file, "serve TLS with this certificate, PEM");
  CLI::Option* const key = app.add_option("--ssl-key-file", server.tls_key_file, "the certificate's key, PEM");
  cert->needs(key)->check(not_empty())->group(kGroup);
  key->needs(cert)->check(not_empty())->group(kGroup);
  app.add_flag("--allow-unauthenticated-remote", server.allow_unauthenticated_remote,
               "serve other machines without a key")
      ->group(kGroup);
  add_repeatable(app, "--allowed-host", server.allowed_hosts, "a name that Host and Origin may carry, repeatable")
      ->check(not_empty())
      ->group(kGroup);
  app.add_flag("--strict", server.strict_fields, "refuse fields that aren't known")->group(kGroup);
  app.add_option_function<std::string>(
         "--metrics-compat", [&server](const std::string&) { server.vllm_metrics = true; },
         "whose metric names /metrics has besides its own: vllm")
      ->check(CLI::IsMember({"vllm"}))
      ->group(kGroup);
  app.add_flag("--strict-model", server.strict_model, "refuse other model names than this model's")->group(kGroup);
  const auto add_seconds = [&](const char* flags, double& seconds, const char* help) {
    app.add_option(flags, seconds, help)->capture_default_str()->check(number_within(0, 1e6))->group(kGroup);
  };
  add_seconds("--timeout", arguments.timeout_s, "longest wait for a place, in seconds; 0: no limit");
  add_seconds("--drain-timeout", arguments.drain_timeout_s, "seconds that running requests have after SIGTERM");
  add_seconds("--sleep-idle-seconds", arguments.sleep_idle_s,
              "seconds without a request after which memory is given back until the next one; 0: never");
  add_options<EngineOptions>(app, kGroup, kCapacityRows, arguments.load.engine);
  add_options<HeldStreamOptions>(app, kGroup, kStreamRows, server.streams);
  add_options<ResponseCacheOptions>(app, kGroup, kResponseRows, server.responses);
  app.add_option("--response-cache-bytes", arguments.response_bytes, "most bytes that they take; otherwise 64M")
      ->check(not_empty())
      ->group(kGroup);
  add_seconds("--response-cache-ttl", arguments.response_ttl_s, "seconds that each is kept");
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->load.log_level = "info";
  add_load_options(app, arguments->load);
  add_server_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_serve;
const Command command_serve = {"serve", "answers over HTTP as OpenAI's and Anthropic's APIs do", add};

}  // namespace ferrox
