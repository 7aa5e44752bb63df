// Which prefixes does a running server keep, and what do they take?
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "base/units.h"
#include "cli/command.h"
#include "cli/http_get.h"
#include "cli/output.h"
#include "cli/tls_options.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

struct CacheArguments {
  std::string url = "http://127.0.0.1:8383";
  std::string key;
  TlsTrust tls;
  int32_t n_nodes = 20;
  bool as_json = false;
};

void print_tree(const Json& tree) {
  for (const Json& node : tree) {
    const std::string text = node.contains("text") ? node["text"].dump() : "(another namespace)";
    const auto n_tokens = node.value("tokens", int64_t{0});
    const bool is_cut = node.value("text_tokens", n_tokens) < n_tokens;
    print_out("  {:>8} + {:<7} {}{}{}{}\n", node.value("start", int64_t{0}), n_tokens, text, is_cut ? "..." : "",
              node.value("held", false) ? "  in use" : "", node.value("pinned", false) ? "  pinned" : "");
  }
}

void print_tier(const char* name, const Json& tier) {
  const auto number = [&](const char* key) { return tier.value(key, uint64_t{0}); };
  if (number("budget_bytes") == 0) return;
  print_out("{:<12} {} entries, {} of {}; {} hits, {} evicted, {} dropped, {} damaged\n", name, number("entries"),
            format_bytes(number("bytes")), format_bytes(number("budget_bytes")), number("hits"), number("evicted"),
            number("dropped"), number("damaged"));
}

void print_report(const Json& report) {
  if (!report.value("enabled", false)) return print_out("the server keeps no prefixes\n");
  const auto asked = report.value("prompt_tokens", uint64_t{0});
  const auto cached = report.value("cached_tokens", uint64_t{0});
  print_out("tokens   {} in {} parts\n", report.value("tokens", uint64_t{0}), report.value("nodes", uint64_t{0}));
  print_out("hits     {} of {} requests; {} of {} prompt tokens ({:.1f} %)\n", report.value("hits", uint64_t{0}),
            report.value("queries", uint64_t{0}), cached, asked,
            asked == 0 ? 0.0 : 100.0 * static_cast<double>(cached) / static_cast<double>(asked));
  if (const auto n_pins = report.value("pins", uint64_t{0}); n_pins > 0) print_out("pins     {}\n", n_pins);
  for (const Json& currency : report.at("currencies")) {
    print_out("{:<12} {} pages, {} idle, {}; {} evicted\n", currency.value("name", ""),
              currency.value("pages", uint64_t{0}), currency.value("idle_pages", uint64_t{0}),
              format_bytes(currency.value("bytes", uint64_t{0})), currency.value("evicted_pages", uint64_t{0}));
  }
  if (report.contains("tiers")) {
    for (const char* name : {"host", "disk"}) print_tier(name, report["tiers"][name]);
  }
  if (!report.at("tree").empty()) print_out("\n     start + tokens  text\n");
  print_tree(report.at("tree"));
}

ExitCode run(const CacheArguments& arguments) {
  const auto body =
      http_get(arguments.url, fmt::format("/v1/cache?nodes={}", arguments.n_nodes), arguments.key, arguments.tls);
  if (!body) return report_failure(body.error());
  const Json report = Json::parse(*body, nullptr, false);
  if (!report.is_object() || report.value("object", "") != "prefix_cache") {
    return report_failure(
        make_error(ErrorCode::kCorrupt, "{}: expected a report of prefixes, found something else", arguments.url));
  }
  if (arguments.as_json) {
    print_out("{}\n", report.dump(2));
  } else {
    print_report(report);
  }
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto arguments = std::make_shared<CacheArguments>();
  app.add_option("--url", arguments->url, "the server")->capture_default_str();
  app.add_option("--api-key", arguments->key, "the key that it asks for");
  add_tls_options(app, arguments->tls, "Options");
  app.add_option("--nodes", arguments->n_nodes, "parts of the tree to show")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000));
  app.add_flag("--json", arguments->as_json, "print JSON");
  return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command command_cache;
const Command command_cache = {
    .name = "cache",
    .help = "shows the prefixes that a running server keeps",
    .add = add,
};

}  // namespace ferrox
