// What are expressions worth? The values are Python's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/jinja_support.h"

namespace ferrox::testing {
namespace {

struct Case {
  std::string expression;
  std::string printed;
};

const Json& python_variables() {
  static const Json json = {{"s", "Hello, Wörld"},
                            {"n", 7},
                            {"f", 2.5},
                            {"big", 18446744073709551615U},
                            {"nil", nullptr},
                            {"xs", {3, 1, 2}},
                            {"d", {{"b", 1}, {"a", {1, 2}}, {"items", "own"}}},
                            {"people", {{{"name", "Ann"}, {"age", 31}}, {{"name", "bob"}, {"age", 25}}}}};
  return json;
}

class Expressions : public ::testing::TestWithParam<Case> {};

TEST_P(Expressions, PrintsLikePython) {
  EXPECT_EQ(value_of(GetParam().expression, python_variables()), GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(Precedence, Expressions,
                         ::testing::Values(Case{"1 + 2 * 3 - 4 // 3", "6"}, Case{"-7 // 2", "-4"}, Case{"-7 % 3", "2"},
                                           Case{"2 ** 3 ** 2", "64"}, Case{"-2 ** 2", "4"}, Case{"10 / 4", "2.5"},
                                           Case{"1 < 2 < 3", "True"}, Case{"1 < 3 < 2", "False"},
                                           Case{"not n is odd", "False"}, Case{"-1|abs", "1"},
                                           Case{"1 ~ 2 + 3",
                                                "error: template line 1, column 10: unsupported operand "
                                                "types for +: 'str' and 'int'"},
                                           Case{"1 if true else 2 + 3", "1"}, Case{"none or '' or 'x'", "x"}));

INSTANTIATE_TEST_SUITE_P(Printing, Expressions,
                         ::testing::Values(Case{"true", "True"}, Case{"none", "None"}, Case{"1e16", "1e+16"},
                                           Case{"1e15", "1000000000000000.0"}, Case{"1.5e-5", "1.5e-05"},
                                           Case{"0.1 + 0.2", "0.30000000000000004"},
                                           Case{"big", "18446744073709551615"},
                                           Case{"[1, 'a', none]", "[1, 'a', None]"}, Case{"(1,)", "(1,)"},
                                           Case{R"(["it's", 'q"'])", R"(["it's", 'q"'])"},
                                           Case{R"({'a': 1.0})", "{'a': 1.0}"}, Case{"missing", ""}));

INSTANTIATE_TEST_SUITE_P(Access, Expressions,
                         ::testing::Values(Case{"s[7:]", "Wörld"}, Case{"s[::-1]", "dlröW ,olleH"}, Case{"s[-1]", "d"},
                                           Case{"s[99]", ""}, Case{"xs[::2]", "[3, 2]"}, Case{"xs[-2:]", "[1, 2]"},
                                           Case{"d['items']", "own"}, Case{"d.items() | length", "3"},
                                           Case{"d.get('zz', 5)", "5"}, Case{"d.a.1", "2"},
                                           Case{"d.nope is defined", "False"}, Case{"s|length", "12"}));

INSTANTIATE_TEST_SUITE_P(Methods, Expressions,
                         ::testing::Values(Case{"s.upper()", "HELLO, WÖRLD"}, Case{"'a,b'.split(',')", "['a', 'b']"},
                                           Case{"' a  b '.split()", "['a', 'b']"}, Case{"'xxhixx'.strip('x')", "hi"},
                                           Case{"s.startswith(('x', 'H'))", "True"}, Case{"s.find('ö')", "8"},
                                           Case{"'{:>4}|{x}'.format('a', x=1)", "   a|1"},
                                           Case{"'%05.2f %s' % (3.14159, 'q')", "03.14 q"}));

INSTANTIATE_TEST_SUITE_P(Filters, Expressions,
                         ::testing::Values(Case{"xs | sort | join('-')", "1-2-3"},
                                           Case{"people | map(attribute='name') | join(',')", "Ann,bob"},
                                           Case{"people | selectattr('age', 'gt', 30) | list | length", "1"},
                                           Case{"missing | default('x')", "x"},
                                           Case{"'a\\nb' | indent(2, true)", "  a\n  b"}, Case{"2.5 | round", "2.0"},
                                           Case{"'4x' | int(7)", "7"}, Case{"d | dictsort | first", "('a', [1, 2])"},
                                           Case{"('<' | safe) + '<'", "<&lt;"}));

INSTANTIATE_TEST_SUITE_P(
    Json, Expressions,
    ::testing::Values(Case{"d | tojson", R"({"b": 1, "a": [1, 2], "items": "own"})"},
                      Case{"[1, {'a': none}] | tojson(indent=1)", "[\n 1,\n {\n  \"a\": null\n }\n]"},
                      Case{R"('<é"\n>' | tojson)", R"("<é\"\n>")"},
                      Case{"'é' | tojson(ensure_ascii=true)", R"("\u00e9")"},
                      Case{"d | tojson(separators=(',', ':'))", R"({"b":1,"a":[1,2],"items":"own"})"},
                      Case{"{'b': 1, 'a': 2} | tojson(sort_keys=true)", R"({"a": 2, "b": 1})"}));

TEST(JinjaErrors, NameLineColumnAndCause) {
  EXPECT_EQ(render("a\n  {{ missing.x }}"), "error: template line 2, column 13: 'missing' is undefined");
  EXPECT_EQ(render("{{ 1 +\n}}"), "error: template line 2, column 1: expected an expression, found '}}'");
  EXPECT_EQ(render("{% if x %}a"), "error: template line 1, column 12: expected 'endif', found end of template");
  EXPECT_EQ(render("{{ x | nosuch }}"), "error: template line 1, column 8: no filter or test is named 'nosuch'");
  EXPECT_EQ(render("{{ (1] }}"), "error: template line 1, column 6: expected the bracket that closes '(', found ']'");
}

TEST(JinjaErrors, TellTheTemplatesOwnWords) {
  const auto parsed = JinjaTemplate::parse("{{ raise_exception('roles must ' ~ 'alternate') }}");
  ASSERT_TRUE(parsed.has_value());
  const auto rendered = parsed->render(Json::object());
  ASSERT_FALSE(rendered.has_value());
  EXPECT_EQ(raised_message(rendered.error()), "roles must alternate");
  EXPECT_EQ(raised_message(make_error(ErrorCode::kInvalidArgument, "other")), std::nullopt);
}

TEST(JinjaErrors, RefuseToChangeListsAndDicts) {
  for (const char* expression : {"xs.append(1)", "xs.pop()", "d.update({})", "d.pop('a')", "xs.sort()"}) {
    EXPECT_THAT(value_of(expression, python_variables()), ::testing::HasSubstr("is unsafe")) << expression;
  }
  EXPECT_EQ(value_of("xs.append is defined", python_variables()), "False");
}

TEST(JinjaClock, IsTheGivenOne) {
  EXPECT_EQ(value_of("strftime_now('%d %b %Y %H:%M:%S %A')"), "14 Mar 2025 09:26:53 Friday");
  EXPECT_FALSE(parse_clock("2025-02-30 00:00:00").has_value());
  EXPECT_FALSE(parse_clock("yesterday").has_value());
}

}  // namespace
}  // namespace ferrox::testing
