// Does every hostile template end, with a message?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/jinja_support.h"

namespace ferrox::testing {
namespace {

std::string repeated(std::string_view text, size_t n) {
  std::string result;
  for (size_t i = 0; i < n; ++i) result += text;
  return result;
}

/// Tighter than the default, so that the tests are quick.
RenderOptions tight() {
  RenderOptions options = fixed_clock();
  options.limits.max_steps = 300'000;
  options.limits.max_work_bytes = size_t{32} << 20;
  options.limits.max_text_bytes = size_t{4} << 20;
  return options;
}

void expect_refused(const std::string& source, const std::string& reason) {
  EXPECT_THAT(render(source, Json::object(), tight()),
              ::testing::AllOf(::testing::StartsWith("error: template line "), ::testing::HasSubstr(reason)))
      << source.substr(0, 80);
}

TEST(JinjaLimits, DeepSourcesAreRefused) {
  const size_t n = 20'000;
  expect_refused("{{ " + repeated("(", n) + "1", "deeper");
  expect_refused("{{ " + repeated("[", n) + "1", "deeper");
  expect_refused("{{ " + repeated("-", n) + "1 }}", "deeper");
  expect_refused("{{ " + repeated("not ", n) + "1 }}", "deeper");
  expect_refused("{{ 1" + repeated(" + 1", n) + " }}", "deeper");
  expect_refused("{{ x" + repeated(".a", n) + " }}", "deeper");
  expect_refused("{{ x" + repeated("|e", n) + " }}", "deeper");
  expect_refused("{{ x" + repeated(" if x", n) + " }}", "deeper");
  expect_refused(repeated("{% if x %}", n), "deeper");
  expect_refused("{% set " + repeated("(", n) + "x", "deeper");
  expect_refused("{{ x" + repeated("(x", n), "deeper");
}

TEST(JinjaLimits, LongFlatSourcesAreFine) {
  EXPECT_EQ(render("{{ 1" + repeated(" ~ 1", 5000) + " }}"), repeated("1", 5001));
  EXPECT_EQ(render("{% if x %}" + repeated("{% elif x %}", 5000) + "{% else %}y{% endif %}"), "y");
  EXPECT_EQ(render("{{ [" + repeated("1,", 5000) + "] | length }}"), "5000");
}

TEST(JinjaLimits, EndlessWorkIsRefused) {
  expect_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deeper");
  expect_refused("{{ range(1000000000) }}", "longer than");
  expect_refused("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "more than");
  expect_refused("{{ 'a' * 1000000000 }}", "longer than");
  expect_refused("{{ [1] * 1000000000 }}", "more than");
  expect_refused("{{ 'x' | indent(1000000000) }}", "longer than");
  expect_refused("{{ '%1000000000d' % 1 }}", "at most");
  expect_refused("{{ 2 ** 1000 }}", "127 bits");
  expect_refused("{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
                 "than");
  expect_refused(
      "{% set ns = namespace(s='a') %}{% for i in range(99999) %}{% set ns.s = ns.s.replace('a', 'aaaa') %}{% endfor "
      "%}",
      "than");
}

TEST(JinjaLimits, DeepAndSharedValuesAreRefused) {
  expect_refused("{% set ns = namespace(x=1) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}",
                 "nest deeper");
  expect_refused("{% set ns = namespace(x=1) %}{% for i in range(9999) %}{% set ns.x = {1: ns.x} %}{% endfor %}",
                 "nest deeper");
  // Lists that share their parts have few nodes in memory and endlessly many when walked.
  const std::string shared =
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(200) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% endfor %}";
  expect_refused(shared + "{{ ns.x }}", "more than");
  expect_refused(shared + "{{ ns.x | tojson }}", "more than");
  expect_refused(shared + "{{ ns.x == ns.y }}", "more than");
}

TEST(JinjaLimits, RingsOfValuesAreFreed) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns.self.self is defined }}"), "True");
  EXPECT_EQ(render("{% macro m() %}x{% endmacro %}{% set ns = namespace(m=m) %}{{ ns.m() }}"), "x");
  EXPECT_EQ(
      render(
          "{% set ns = namespace() %}{% for i in [1, 2] %}{% set ns.l = loop %}{{ loop.changed(loop) }}{% endfor %}"),
      "TrueFalse");
}

TEST(JinjaLimits, DeepVariablesAreRefused) {
  Json deep = 1;
  for (int i = 0; i < 5000; ++i) deep = Json::array({std::move(deep)});
  EXPECT_THAT(render("{{ x }}", {{"x", deep}}), ::testing::HasSubstr("variables nest deeper"));
}

}  // namespace
}  // namespace ferrox::testing
