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
#include "telemetry/kv_event_publisher.h"
#include "telemetry/otlp_settings.h"

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
  std::string log_format = "text";
  std::string log_file;
  std::string otlp_endpoint;
  KvEventPublisherOptions kv_events;
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
  options.sleep_idle = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(arguments.sleep_idle_s * 1000)));
  options.responses.ttl = std::chrono::milliseconds(static_cast<int64_t>(arguments.response_ttl_s * 1000));
  if (!arguments.response_bytes.empty()) {
    TRY_ASSIGN(const uint64_t bytes, parse_size_or_zero("--response-cache-bytes", arguments.response_bytes));
    options.responses.most_bytes = static_cast<int64_t>(std::min<uint64_t>(bytes, uint64_t{1} << 50));
  }
  return options;
}

Result<void> open_log(const Arguments& arguments) {
  set_log_format(arguments.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  if (!arguments.log_file.empty()) TRY(add_log_file(arguments.log_file));
  return {};
}

/// Traces and events of the prefix cache, where they are asked for.
Result<void> open_telemetry(const Arguments& arguments, EngineOptions& engine, ServerOptions& server) {
  TRY_ASSIGN(auto traces, otlp_settings(arguments.otlp_endpoint, [](const char* name) { return std::getenv(name); }));
  if (traces) {
    const std::string doubt = otlp_doubt([](const char* name) { return std::getenv(name); });
    if (!doubt.empty()) log().warn("{}", doubt);
    TRY_ASSIGN(server.traces, SpanExporter::open(std::move(*traces)));
  }
  if (!arguments.kv_events.endpoint.empty()) {
    TRY_ASSIGN(server.kv_events, KvEventPublisher::open(arguments.kv_events));
    engine.prefix_observer = server.kv_events;
  }
  return {};
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
  if (const auto opened = open_log(arguments); !opened) return report_option(opened.error());
  auto server_options = resolve_server(arguments);
  if (!server_options) return report_option(server_options.error());
  auto engine_options = resolve_load(arguments.load);
  if (!engine_options) return report_option(engine_options.error());
  const auto told = open_telemetry(arguments, *engine_options, *server_options);
  if (!told) return report_option(told.error());
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

void add_telemetry_options(CLI::App& app, Arguments& arguments) {
  constexpr const char* kGroup = "Logs, traces and events";
  const auto add = [&](const char* flags, std::string& value, const char* help) {
    return app.add_option(flags, value, help)->check(not_empty())->group(kGroup);
  };
  add("--log-format", arguments.log_format, "how lines of the log look: text, json")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}));
  add("--log-file", arguments.log_file, "a file that gets every line of the log as well");
  app.add_flag("--log-prompts", arguments.server.log_prompts, "write the text of prompts to the log")->group(kGroup);
  app.add_option("--log-status-steps", arguments.server.status_steps, "steps between two status lines; 0: none")
      ->capture_default_str()
      ->check(number_within(0, 1e12))
      ->check(whole_number())
      ->group(kGroup);
  add("--otlp-endpoint", arguments.otlp_endpoint, "an OpenTelemetry collector that gets traces, as OTLP in JSON");
  CLI::Option* const events = add("--kv-events", arguments.kv_events.endpoint,
                                  "publish what the prefix cache holds, prompts and all, over ZeroMQ: tcp://*:5557");
  add("--kv-events-replay", arguments.kv_events.replay_endpoint, "a socket that sends old events once more")
      ->needs(events);
  add("--kv-events-topic", arguments.kv_events.topic, "the topic of their messages; otherwise an empty one")
      ->needs(events);
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->load.log_level = "info";
  add_load_options(app, arguments->load);
  add_server_options(app, *arguments);
  add_telemetry_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_serve;
const Command command_serve = {"serve", "answers over HTTP as OpenAI's and Anthropic's APIs do", add};

}  // namespace ferrox
