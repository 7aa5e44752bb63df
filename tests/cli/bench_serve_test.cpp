// Does bench-serve measure this program's own server, in every scenario, and leave nothing running there?
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command_run.h"
#include "server/self_signed.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using testing::CommandResult;
using ::testing::HasSubstr;
using testing::RigOptions;
using testing::ServerRig;

/// `ferrox bench-serve` with twelve small requests against `rig`, where `arguments` don't say otherwise.
CommandResult load_rig(const ServerRig& rig, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bench-serve", "--url", rig.server->url(), "-o", "json", "--ignore-eos"});
  for (const auto& [flag, value] : {std::pair{"--output-tokens", "6"}, std::pair{"--requests", "12"}}) {
    if (std::find(arguments.begin(), arguments.end(), flag) != arguments.end()) continue;
    arguments.insert(arguments.end(), {flag, value});
  }
  return testing::run_ferrox(arguments);
}

size_t n_of(const Json& report, const char* outcome) { return report["outcomes"][outcome].get<size_t>(); }

TEST(BenchServe, EveryScenarioIsAnsweredOnBothEndpoints) {
  ServerRig rig;
  const std::vector<std::vector<std::string>> scenarios = {
      {"--scenario", "distinct", "--prompt-tokens", "8:16", "--concurrency", "4"},
      {"--scenario", "shared-prefix", "--prefix-tokens", "150", "--prompt-tokens", "4"},
      {"--scenario", "multi-turn", "--turns", "3", "--prompt-tokens", "8"},
      {"--scenario", "mixed", "--prompt-tokens", "4", "--long-tokens", "90:100", "--long-share", "0.25"},
      {"--scenario", "distinct", "--prompt-tokens", "8", "--rate", "5000"},
      {"--scenario", "multi-turn", "--prompt-tokens", "8", "--rate", "5000", "--arrival", "constant"},
  };
  for (const char* endpoint : {"chat", "completions"}) {
    for (auto arguments : scenarios) {
      arguments.insert(arguments.end(), {"--endpoint", endpoint, "--slo-ttft-ms", "1e9"});
      const auto result = load_rig(rig, arguments);
      SCOPED_TRACE(result.out.substr(0, 2000) + result.err);
      ASSERT_EQ(result.exit_code, 0);
      const Json report = Json::parse(result.out);
      EXPECT_EQ(n_of(report, "ok"), 12u);
      EXPECT_EQ(report["requests"].size(), 12u);
      EXPECT_EQ(report["output_tokens"], 72) << "six tokens each, as the server counts";
      EXPECT_EQ(report["output_tokens_are_events"], false);
      EXPECT_EQ(report["goodput"]["share"], 1.0);
      for (const Json& request : report["requests"]) EXPECT_GT(request["prompt_tokens"], 0);
      rig.expect_all_released();
    }
  }
}

TEST(BenchServe, PrefixesAndTurnsAreFoundInTheCache) {
  ServerRig rig;
  const auto cached_share = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--endpoint", "completions", "--concurrency", "1"});
    return Json::parse(load_rig(rig, arguments).out).value("cached_share", -1.0);
  };
  EXPECT_GT(cached_share({"--scenario", "shared-prefix", "--prefix-tokens", "150", "--prompt-tokens", "4"}), 0.5);
  EXPECT_GT(cached_share({"--scenario", "multi-turn", "--turns", "6", "--prompt-tokens", "40"}), 0.5);
  EXPECT_LT(cached_share({"--scenario", "distinct", "--prompt-tokens", "40", "--seed", "9"}), 0.2);
}

TEST(BenchServe, DroppedRequestsLeaveNothingRunning) {
  RigOptions options;
  options.engine.context_length = 1 << 14;
  ServerRig rig(options);
  const auto result = load_rig(rig, {"--scenario", "cancel-heavy", "--cancel-share", "0.75", "--output-tokens", "400",
                                     "--prompt-tokens", "20", "--requests", "24"});
  SCOPED_TRACE(result.out.substr(0, 2000) + result.err);
  ASSERT_EQ(result.exit_code, 0);
  const Json report = Json::parse(result.out);
  // Tokens without text make no event, so an answer may end before the place where it was to be dropped.
  EXPECT_EQ(n_of(report, "ok") + n_of(report, "cancelled"), 24u);
  EXPECT_GE(n_of(report, "ok"), 6u);
  EXPECT_GT(n_of(report, "cancelled"), 0u);
  rig.expect_all_released();
}

TEST(BenchServe, RefusalsAreCountedAndAloneAreAFailure) {
  RigOptions options;
  options.server.api_keys = {"right"};
  ServerRig rig(options);
  const auto refused = load_rig(rig, {"--api-key", "wrong"});
  EXPECT_EQ(refused.exit_code, 1);
  const Json report = Json::parse(refused.out);
  EXPECT_EQ(n_of(report, "refused"), 12u);
  EXPECT_EQ(report["statuses"]["401"], 12);
  EXPECT_THAT(refused.err, HasSubstr("expected an answer to one request at least, found status 401"));
  EXPECT_EQ(load_rig(rig, {"--api-key", "right"}).exit_code, 0);
}

TEST(BenchServe, ReportsAreWrittenToFiles) {
  ServerRig rig;
  const std::string folder = ::testing::TempDir();
  const auto text_of_file = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
  };
  const auto result =
      testing::run_ferrox({"bench-serve", "--url", rig.server->url(), "--requests", "3", "--prompt-tokens", "5",
                           "--json", folder + "ferrox-load.json", "--html", folder + "ferrox-load.html"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| ok "));
  EXPECT_EQ(n_of(Json::parse(text_of_file(folder + "ferrox-load.json")), "ok"), 3u);
  EXPECT_THAT(text_of_file(folder + "ferrox-load.html"), HasSubstr("</html>"));
  const auto nowhere = testing::run_ferrox({"bench-serve", "--html", folder + "no/such/folder/x.html"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("expected a file that can be written"));
}

TEST(BenchServe, WrongOptionsAreRefusedBeforeAnythingIsSent) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--url", "ftp://x"}, "--url: expected http://host:port or https://host:port, found 'ftp://x'"},
      {{"--scenario", "chaos"}, "expected one of distinct, shared-prefix"},
      {{"--prompt-tokens", "9:3"}, "--prompt-tokens: expected a number such as 512 or a range"},
      {{"--requests", "0"}, "expected a number from 1 to"},
      {{"--requests", "1.5"}, "expected a whole number, found '1.5'"},
      {{"--rate", "0"}, "expected a number from"},
      {{"--rate", "1", "--concurrency", "2"}, "--concurrency: expected it without --rate"},
      {{"--arrival", "constant"}, "--arrival: expected it beside --rate"},
      {{"--rate", "1", "--arrival", "bursts"}, "expected poisson or constant, found 'bursts'"},
      {{"--turns", "3"}, "--turns: expected it beside --scenario multi-turn, found --scenario distinct"},
      {{"--cancel-share", "0.5", "--scenario", "mixed"}, "--cancel-share: expected it beside --scenario cancel-heavy"},
      {{"--long-share", "1.5", "--scenario", "mixed"}, "expected a number from 0 to 1"},
      {{"--endpoint", "responses"}, "expected chat or completions, found 'responses'"},
      {{"--output", "xml"}, "xml"},
      {{"--api-key", ""}, "expected a value, found an empty one"},
      {{"--slo-ttft-ms", "-1"}, "expected a number from"},
      {{"stray"}, "unexpected argument 'stray'"},
  };
  for (const auto& [arguments, message] : cases) {
    std::vector<std::string> all = {"bench-serve"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto result = testing::run_ferrox(all);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
  }
}

RigOptions with_tls(const testing::SelfSigned& certificate) {
  RigOptions options;
  options.server.tls_cert_file = certificate.cert_file();
  options.server.tls_key_file = certificate.key_file();
  return options;
}

TEST(BenchServe, SpeaksTlsToWhoeverProvesItsName) {
  const testing::SelfSigned certificate;
  const testing::SelfSigned another;
  const ServerRig rig(with_tls(certificate));
  const std::string by_name = fmt::format("https://localhost:{}", rig.port());
  const std::string by_address = rig.server->url();
  ASSERT_TRUE(by_address.starts_with("https://127.0.0.1")) << "which the certificate doesn't name";
  struct TlsCase {
    std::vector<std::string> arguments;
    bool is_believed;
  };
  const TlsCase cases[] = {
      {{"--url", by_name, "--cacert", certificate.cert_file()}, true},
      {{"--url", by_name, "--cacert", certificate.cert_file(), "--no-keep-alive"}, true},
      {{"--url", by_address, "--insecure"}, true},
      {{"--url", by_name}, false},
      {{"--url", by_name, "--cacert", another.cert_file()}, false},
      {{"--url", by_address, "--cacert", certificate.cert_file()}, false},
  };
  for (const auto& [arguments, is_believed] : cases) {
    std::vector<std::string> load = {"bench-serve",     "-o", "json",     "--requests", "4", "--output-tokens", "3",
                                     "--prompt-tokens", "4",  "--warmup", "0"};
    load.insert(load.end(), arguments.begin(), arguments.end());
    const CommandResult measured = testing::run_ferrox(load);
    SCOPED_TRACE(::testing::PrintToString(arguments) + measured.out.substr(0, 1000) + measured.err);
    EXPECT_EQ(measured.exit_code, is_believed ? 0 : 1);
    EXPECT_EQ(measured.out.find("TLS: ") == std::string::npos, is_believed);
    EXPECT_EQ(n_of(Json::parse(measured.out), "ok"), is_believed ? 4u : 0u);
    if (arguments.back() == "--no-keep-alive") continue;
    std::vector<std::string> ask = {"cache", "--json"};
    ask.insert(ask.end(), arguments.begin(), arguments.end());
    const CommandResult shown = testing::run_ferrox(ask);
    EXPECT_EQ(shown.exit_code, is_believed ? 0 : 1) << shown.err;
    EXPECT_EQ(shown.out.find("prefix_cache") != std::string::npos, is_believed);
  }
}

TEST(BenchServe, WhatTlsIsntAskedForIsRefused) {
  for (const char* command : {"bench-serve", "cache"}) {
    const auto refused = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), command);
      return testing::run_ferrox(arguments);
    };
    EXPECT_THAT(refused({"--insecure"}).err, HasSubstr("--insecure: expected it beside an https --url"));
    EXPECT_THAT(refused({"--url", "http://h", "--cacert", "x"}).err, HasSubstr("--cacert: expected it beside"));
    EXPECT_THAT(refused({"--url", "https://h", "--cacert", "x", "--insecure"}).err, HasSubstr("found both"));
    EXPECT_THAT(refused({"--url", "https://h", "--cacert", "/nowhere"}).err,
                HasSubstr("--cacert /nowhere: expected certificates"));
  }
}

}  // namespace
}  // namespace ferrox
