// Do figures follow from the records, and do reports hold them without harm?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "loadgen/html_report.h"
#include "loadgen/html_text.h"
#include "loadgen/json_report.h"
#include "loadgen/markdown_report.h"
#include "loadgen/plot_axis.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RequestRecord answered(double due_ms, std::vector<double> token_ms, int64_t n_output, int64_t n_cached) {
  RequestRecord record;
  record.outcome = Outcome::kOk;
  record.status = 200;
  record.due_ms = due_ms;
  record.sent_ms = due_ms + 1;
  record.end_ms = token_ms.back() + 5;
  record.token_ms = std::move(token_ms);
  record.prompt_tokens = 100;
  record.completion_tokens = n_output;
  record.cached_tokens = n_cached;
  return record;
}

RequestRecord broken(Outcome outcome, int status, std::string error, double end_ms) {
  RequestRecord record;
  record.outcome = outcome;
  record.status = status;
  record.error = std::move(error);
  record.end_ms = end_ms;
  return record;
}

/// Two answers, each other outcome once, and one request that was never sent.
LoadResult sample_run() {
  LoadResult result;
  result.records.push_back(answered(0, {100, 110, 130}, 3, 40));
  result.records.push_back(answered(50, {250, 270}, 5, 60));
  result.records.push_back(broken(Outcome::kRefused, 503, "status 503: <b>queue</b> & \"full\"", 20));
  result.records.push_back(broken(Outcome::kFailed, 0, "connect: Connection refused", 30));
  result.records.push_back(broken(Outcome::kCancelled, 200, "", 500));
  result.records.back().token_ms = {450, 460};
  result.records.emplace_back();
  return result;
}

LoadReport sample_report(const ServiceLevel& level = {}) {
  LoadOptions options;
  options.url = {"127.0.0.1", "8383", ""};
  options.api_key = "secret-key";
  options.body.model = "</title><script>alert('x')</script>";
  ScenarioOptions scenario;
  scenario.n_requests = 6;
  return make_report(options, scenario, level, sample_run());
}

TEST(Figures, FollowFromTheRecords) {
  const Figures figures = sample_report().figures;
  for (size_t i = 0; i < figures.n_outcomes.size(); ++i) {
    EXPECT_EQ(figures.n_outcomes[i], static_cast<Outcome>(i) == Outcome::kOk ? 2u : 1u);
  }
  EXPECT_EQ(figures.n_statuses, (std::map<int, size_t>{{503, 1}}));
  EXPECT_EQ(figures.n_errors.size(), 2u);
  EXPECT_EQ(figures.wall_s, 0.5);
  EXPECT_EQ(figures.requests_per_s, 4);
  EXPECT_EQ(figures.input_tokens, 200);
  EXPECT_EQ(figures.input_per_s, 400);
  EXPECT_EQ(figures.output_tokens, 10) << "two of them events of the dropped answer";
  EXPECT_FALSE(figures.counts_events);
  EXPECT_EQ(figures.cached_tokens, 100);
  EXPECT_EQ(figures.cached_share, 0.5);
  EXPECT_EQ(figures.ttft_ms.n, 2u);
  EXPECT_EQ(figures.ttft_ms.p50, 100);
  EXPECT_EQ(figures.ttft_ms.max, 200);
  EXPECT_EQ(figures.itl_ms.n, 3u);
  EXPECT_EQ(figures.itl_ms.p50, 20);
  EXPECT_EQ(figures.e2e_ms.max, 225);
  EXPECT_EQ(figures.late_ms.n, 5u);
  EXPECT_FALSE(figures.goodput);
}

TEST(Figures, GoodputCountsWhatKeepsAllLimits) {
  const auto n_good = [](std::optional<double> ttft, std::optional<double> itl) {
    return sample_report({ttft, itl}).figures.goodput->n_good;
  };
  EXPECT_EQ(n_good(200, {}), 2u);
  EXPECT_EQ(n_good(199, {}), 1u);
  EXPECT_EQ(n_good(99, {}), 0u);
  EXPECT_EQ(n_good({}, 15), 2u) << "gaps of 10 and 20, and one of 20 for four tokens";
  EXPECT_EQ(n_good({}, 5), 1u);
  EXPECT_EQ(n_good(150, 5), 0u);
  const Goodput goodput = *sample_report({200, {}}).figures.goodput;
  EXPECT_EQ(goodput.share, 0.5) << "of two answers, a refusal and a failure";
  EXPECT_EQ(goodput.rate_per_s, 4);
}

TEST(Figures, WithoutUsageEventsAreCounted) {
  LoadResult run;
  run.records.push_back(answered(0, {1, 2, 3}, 3, 0));
  run.records.back().completion_tokens.reset();
  run.records.back().cached_tokens.reset();
  const Figures figures = figures_of(run.records, {});
  EXPECT_TRUE(figures.counts_events);
  EXPECT_EQ(figures.output_tokens, 3);
  EXPECT_FALSE(figures.cached_tokens);
}

TEST(Report, JsonHoldsFiguresAndARowForEachRequest) {
  const std::string text = json_report(sample_report({200, {}}));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["outcomes"], nlohmann::json::parse(R"({"skipped":1,"ok":2,"refused":1,"failed":1,"cancelled":1})"));
  EXPECT_EQ(json["statuses"]["503"], 1);
  EXPECT_EQ(json["ttft_ms"]["max"], 200);
  EXPECT_EQ(json["goodput"]["requests"], 2);
  EXPECT_EQ(json["cached_share"], 0.5);
  EXPECT_EQ(json["settings"]["url"], "http://127.0.0.1:8383");
  ASSERT_EQ(json["requests"].size(), 6u);
  EXPECT_EQ(json["requests"][1]["max_itl_ms"], 20);
  EXPECT_EQ(json["requests"][1]["mean_itl_ms"], 5);
  EXPECT_EQ(json["requests"][2]["status"], 503);
  EXPECT_EQ(json["requests"][5]["outcome"], "skipped");
  EXPECT_THAT(text, Not(HasSubstr("secret-key")));
}

TEST(Report, MarkdownHasARowForEachFigure) {
  const std::string text = markdown_report(sample_report({200, 15}));
  EXPECT_THAT(text, HasSubstr("distinct: 6 requests to http://127.0.0.1:8383, 8 at once"));
  for (const char* row : {"| ok ", "| refused ", "| failed ", "| cancelled ", "| skipped ", "| first token ",
                          "| goodput (first token in 200 ms, 15 ms a token) ", "| cached input tokens "}) {
    EXPECT_THAT(text, HasSubstr(row));
  }
  EXPECT_THAT(text, HasSubstr("- 1 x connect: Connection refused\n"));
}

TEST(Report, TheHtmlPageNeedsNothingAndEscapesEverything) {
  const std::string page = html_report(sample_report({200, 15}));
  for (const char* unwanted :
       {"<script", "src=", "href=", "<link", "@import", "url(", "xmlns", "<iframe", "onload", "<b>"}) {
    EXPECT_THAT(page, Not(HasSubstr(unwanted)));
  }
  EXPECT_THAT(page, HasSubstr("status 503: &lt;b&gt;queue&lt;/b&gt; &amp; &quot;full&quot;"));
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, Not(HasSubstr("secret-key")));
  const auto n_of = [&](std::string_view what) {
    size_t n = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(n_of("<svg "), 3u);
  EXPECT_EQ(n_of("</svg>"), 3u);
  EXPECT_EQ(n_of("class=\"curve\""), 2u);
  EXPECT_EQ(n_of("class=\"bad\""), 2u) << "the refused and the failed request";
}

TEST(Report, ARunOfNothingHasPagesToo) {
  LoadResult nothing;
  nothing.records.resize(3);
  const LoadReport report = make_report({}, {}, {1.0, 1.0}, nothing);
  EXPECT_THAT(html_report(report), HasSubstr("no samples"));
  EXPECT_THAT(markdown_report(report), HasSubstr("| skipped "));
  EXPECT_THAT(markdown_report(report), HasSubstr("| first token    |        - |"));
  EXPECT_EQ(nlohmann::json::parse(json_report(report))["ttft_ms"]["n"], 0);
}

TEST(Report, TimesHaveThreeDigits) {
  EXPECT_EQ(format_ms(0), "0");
  EXPECT_EQ(format_ms(0.04512), "0.0451");
  EXPECT_EQ(format_ms(0.4512), "0.451");
  EXPECT_EQ(format_ms(4.512), "4.51");
  EXPECT_EQ(format_ms(45.12), "45.1");
  EXPECT_EQ(format_ms(451.2), "451");
  EXPECT_EQ(format_ms(45123), "45123");
}

TEST(HtmlText, WritesCharactersOfHtmlAsEntities) {
  EXPECT_EQ(html_text("a<b>&\"'c\xc3\xa9"), "a&lt;b&gt;&amp;&quot;&#39;c\xc3\xa9");
}

TEST(PlotAxis, MarksAreRoundAndEnclose) {
  EXPECT_EQ(LogAxis(3, 40, 0, 1).marks(), (std::vector<double>{2, 5, 10, 20, 50}));
  EXPECT_EQ(LogAxis(10, 10, 0, 1).marks(), (std::vector<double>{10, 20}));
  EXPECT_EQ(LogAxis(1, 1000, 0, 1).marks().size(), 10u);
  EXPECT_EQ(LinearAxis(9, 0, 1).marks(), (std::vector<double>{0, 2, 4, 6, 8}));
  for (double lowest = 1e-6; lowest < 1e6; lowest *= 3.7) {
    for (double factor = 1; factor < 1e5; factor *= 7.3) {
      const LogAxis axis(lowest, lowest * factor, 0, 100);
      const double seen = std::max(lowest, 0.001);
      EXPECT_LE(axis.marks().front(), seen * (1 + 1e-9));
      EXPECT_GE(axis.marks().back() * (1 + 1e-9), lowest * factor);
      EXPECT_GE(axis.at(lowest), 0);
      EXPECT_LE(axis.at(lowest * factor), 100);
    }
    const size_t n_marks = LinearAxis(lowest, 0, 1).marks().size();
    EXPECT_TRUE(n_marks >= 4 && n_marks <= 11) << lowest << ": " << n_marks;
  }
}

}  // namespace
}  // namespace ferrox
