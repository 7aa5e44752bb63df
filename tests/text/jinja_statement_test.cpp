// What do statements do, and which names and spaces do they leave?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/jinja_support.h"

namespace ferrox::testing {
namespace {

const Json& loop_variables() {
  static const Json json = {{"xs", {3, 1, 2}}, {"n", 7}, {"d", {{"a", 1}}}};
  return json;
}

std::string run(std::string_view source) { return render(source, loop_variables()); }

TEST(JinjaLoops, KnowWhereTheyAre) {
  EXPECT_EQ(run("{% for x in xs %}{{ loop.index }}/{{ loop.length }}{{ '.' if loop.last else ',' }}{% endfor %}"),
            "1/3,2/3,3/3.");
  EXPECT_EQ(run("{% for x in xs if x > 1 %}{{ x }}{{ loop.revindex }} {% endfor %}"), "32 21 ");
  EXPECT_EQ(run("{% for x in xs %}{{ loop.previtem }}<{{ loop.nextitem }} {% endfor %}"), "<1 3<2 1< ");
  EXPECT_EQ(run("{% for x in [] %}x{% else %}none{% endfor %}"), "none");
}

TEST(JinjaLoops, BreakContinueAndRecurse) {
  EXPECT_EQ(run("{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}"), "32");
  EXPECT_EQ(run("{% for x in xs %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}"), "3");
  EXPECT_EQ(run("{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif "
                "%}{% endfor %}"),
            "1(2(3))");
}

TEST(JinjaLoops, UnpackTuples) {
  EXPECT_EQ(run("{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}"), "a=1");
  EXPECT_EQ(run("{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}"), "123");
  EXPECT_THAT(run("{% for a, b in [(1, 2, 3)] %}{% endfor %}"),
              ::testing::HasSubstr("expected 2 values to unpack, found 3"));
}

TEST(JinjaScopes, LoopsKeepTheirNamesAndNamespacesDont) {
  EXPECT_EQ(run("{% set x = 0 %}{% for y in xs %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}"), "3120");
  EXPECT_EQ(run("{% set ns = namespace(x=0) %}{% for y in xs %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}"), "6");
  EXPECT_EQ(run("{% if n %}{% set q = 1 %}{% endif %}{{ q }}"), "1");
  EXPECT_EQ(run("{% with a = 1 %}{{ a }}{% endwith %}{{ a }}"), "1");
}

TEST(JinjaMacros, TakeDefaultsNamesAndCallers) {
  EXPECT_EQ(run("{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }} {{ m(b=5, a=4) }}"), "1-2 4-5");
  EXPECT_EQ(run("{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, x=3) }}"), "(1,){'x': 3}");
  EXPECT_EQ(run("{% macro m(xs) %}{% for x in xs %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) m([1, 2]) %}<{{ "
                "x }}>{% endcall %}"),
            "<1><2>");
  EXPECT_EQ(run("{% macro m(x) %}{{ x }}{% if x %}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}"), "3210");
  EXPECT_THAT(run("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
              ::testing::HasSubstr("takes at most 1 arguments, found 2"));
}

TEST(JinjaBlocks, SetFilterRawAndGeneration) {
  EXPECT_EQ(run("{% set x | upper %}a{{ n }}{% endset %}[{{ x }}]"), "[A7]");
  EXPECT_EQ(run("{% filter upper %}abc{% endfilter %}"), "ABC");
  EXPECT_EQ(run("{% raw %}{{ n }}{% endraw %}"), "{{ n }}");
  EXPECT_EQ(run("{% generation %}a{% endgeneration %}"), "a");
}

TEST(JinjaSpaces, BlocksAreTrimmedAndLeftStripped) {
  EXPECT_EQ(run("a\n  {% if n %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(run("a \n {%- if n -%} \n b {%- endif %}\n c"), "ab c");
  EXPECT_EQ(run("  {%+ if n +%}\nb{% endif %}"), "  \nb");
  EXPECT_EQ(run(" {{- n -}} \n x"), "7x");
  EXPECT_EQ(run("a {#- c -#} b"), "ab");
  EXPECT_EQ(run("a\r\nb\r"), "a\nb");
}

TEST(JinjaSpaces, UnknownTagsAndStrayEndsAreRefused) {
  EXPECT_THAT(run("{% include 'x' %}"), ::testing::HasSubstr("expected a statement"));
  EXPECT_THAT(run("{% endif %}"), ::testing::HasSubstr("found 'endif'"));
  EXPECT_THAT(run("{% break %}"), ::testing::HasSubstr("outside of a loop"));
}

}  // namespace
}  // namespace ferrox::testing
