// Does every byte of a prompt know whether the template or the caller wrote it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "text/jinja/text.h"
#include "text/jinja_support.h"

namespace ferrox::testing {
namespace {

const Json& caller_variables() {
  static const Json json = {{"s", "user"}, {"pad", "  user  "}, {"list", {"a", "b"}}, {"d", {{"key", "value"}}}};
  return json;
}

std::string show(std::string_view source) { return marked(source, caller_variables()); }

TEST(Origins, SurviveEveryOperation) {
  EXPECT_EQ(show("<{{ s }}>"), "<[user]>");
  EXPECT_EQ(show("{{ '<' + s + '>' }}"), "<[user]>");
  EXPECT_EQ(show("{{ '<' ~ s ~ 1 }}"), "<[user]1");
  EXPECT_EQ(show("{{ ('<' + s + '>') | upper }}"), "<[USER]>");
  EXPECT_EQ(show("{{ ('<' + s + '>')[1:] }}"), "[user]>");
  EXPECT_EQ(show("{{ ('<' + s)[::-1] }}"), "[resu]<");
  EXPECT_EQ(show("{{ '<' + pad | trim + '>' }}"), "<[user]>");
  EXPECT_EQ(show("{{ pad.strip() }}|{{ pad.split()[0] }}"), "[user]|[user]");
  EXPECT_EQ(show("{{ list | join('-') }}"), "[a]-[b]");
  EXPECT_EQ(show("{{ s.replace('s', '<s>') }}"), "[u]<s>[er]");
  EXPECT_EQ(show("{{ 'a{}b%s'.format(s) % s }}"), "a[user]b[user]");
  EXPECT_EQ(show("{{ s * 2 }}"), "[useruser]");
  EXPECT_EQ(show("{{ s | indent(2, true) }}"), "  [user]");
  EXPECT_EQ(show("{{ s | center(6) }}"), " [user] ");
  EXPECT_EQ(show("{{ s | list | first }}"), "[u]");
  EXPECT_EQ(show("{{ '<b>' | e }}{{ s | e }}"), "&lt;b&gt;[user]");
}

TEST(Origins, SurviveJsonAndPrintedContainers) {
  EXPECT_EQ(show("{{ d | tojson }}"), R"({"[key]": "[value]"})");
  EXPECT_EQ(show("{{ d }}"), "{'[key]': '[value]'}");
  EXPECT_EQ(show("{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}"), "[key]=[value]");
}

TEST(Origins, SurviveMacrosBlocksAndFilters) {
  EXPECT_EQ(show("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(s) }}"), "<[user]>");
  EXPECT_EQ(show("{% macro m() %}{{ kwargs }}{% endmacro %}{{ m(**d) }}"), "{'[key]': '[value]'}");
  EXPECT_EQ(show("{% set x %}<{{ s }}>{% endset %}{{ x }}"), "<[user]>");
  EXPECT_EQ(show("{% filter upper %}a{{ s }}{% endfilter %}"), "A[USER]");
}

TEST(Origins, TrustedVariablesAreTheTemplatesAndWin) {
  RenderOptions options = fixed_clock();
  options.trusted = {{"bos_token", "<s>"}};
  const auto parsed = JinjaTemplate::parse("{{ bos_token }}{{ s }}");
  ASSERT_TRUE(parsed.has_value());
  const auto rendered = parsed->render({{"bos_token", "forged"}, {"s", "<s>"}}, options);
  ASSERT_TRUE(rendered.has_value());
  ASSERT_EQ(rendered->segments().size(), 2U);
  EXPECT_TRUE(rendered->segments()[0].is_template);
  EXPECT_EQ(rendered->segments()[0].text, "<s>");
  EXPECT_FALSE(rendered->segments()[1].is_template);
}

/// Text against the obvious: one origin per byte.
TEST(Origins, TextKeepsTheOriginOfEachByte) {
  std::mt19937 random(7);
  const auto below = [&random](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    jinja::Text text;
    std::string bytes;
    std::string origins;
    for (int piece = 0; piece < 8; ++piece) {
      const auto origin = below(2) == 0 ? jinja::Origin::kTemplate : jinja::Origin::kData;
      const std::string part(below(4), static_cast<char>('a' + piece));
      text.append(part, origin);
      bytes += part;
      origins.append(part.size(), origin == jinja::Origin::kTemplate ? 'T' : 'D');
    }
    const size_t begin = below(bytes.size() + 1);
    const size_t end = begin + below(bytes.size() - begin + 1);
    std::string seen_bytes;
    std::string seen_origins;
    text.slice(begin, end).for_each_run(0, end - begin, [&](std::string_view run, jinja::Origin origin) {
      seen_bytes += run;
      seen_origins.append(run.size(), origin == jinja::Origin::kTemplate ? 'T' : 'D');
    });
    EXPECT_EQ(seen_bytes, bytes.substr(begin, end - begin));
    EXPECT_EQ(seen_origins, origins.substr(begin, end - begin));
  }
}

}  // namespace
}  // namespace ferrox::testing
