// Does the reference have every endpoint, every field and every default, and is docs/API.md what the tables say?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "server/reference/api_page.h"
#include "server/reference/openapi.h"
#include "server/reference/shape_text.h"
#include "server/schema/body.h"
#include "server/schema/describe.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::shared_server;

const Json& reference() {
  static const Json document = openapi_document();
  return document;
}

const Json& property(const std::string& group, const std::string& name) {
  return reference().at("components").at("schemas").at(group).at("properties").at(name);
}

std::set<std::string> documented_routes() {
  std::set<std::string> routes;
  for (const auto& [path, methods] : reference()["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) routes.insert(method + " " + path);
  }
  return routes;
}

TEST(ApiReference, EveryEndpointIsDocumentedAndNothingElse) {
  std::set<std::string> registered;
  for (const Endpoint* const* endpoint = all_endpoint; *endpoint != nullptr; ++endpoint) {
    std::string method = (*endpoint)->method;
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    registered.insert(method + " " + (*endpoint)->path);
  }
  EXPECT_EQ(documented_routes(), registered);
}

void expect_references_resolve(const Json& value) {
  if (value.is_object() && value.contains("$ref")) {
    const auto target = value["$ref"].get<std::string>();
    ASSERT_TRUE(target.starts_with("#/")) << target;
    EXPECT_TRUE(reference().contains(Json::json_pointer(target.substr(1)))) << target;
  }
  if (!value.is_structured()) return;
  for (const Json& member : value) expect_references_resolve(member);
}

TEST(ApiReference, ReferencesResolve) { expect_references_resolve(reference()); }

TEST(ApiReference, OperationsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Json& methods : reference()["paths"]) {
    for (const Json& operation : methods) {
      EXPECT_TRUE(names.insert(operation["operationId"].get<std::string>()).second) << operation["operationId"];
      EXPECT_FALSE(operation["summary"].get<std::string>().empty());
    }
  }
}

TEST(ApiReference, DefaultsAreThoseOfAnEmptyRequest) {
  EXPECT_EQ(property("GenerationFields", "temperature")["default"], 0.8);
  EXPECT_EQ(property("GenerationFields", "temperature")["maximum"], 100);
  EXPECT_EQ(property("GenerationFields", "top_k")["default"], 40);
  EXPECT_EQ(property("GenerationFields", "n")["default"], 1);
  EXPECT_EQ(property("GenerationFields", "cache_prompt")["default"], true);
  EXPECT_EQ(property("GenerationFields", "samplers")["default"].front(), "penalties");
  EXPECT_FALSE(property("CompletionFields", "best_of").contains("default")) << "it is what n is";
  EXPECT_FALSE(property("GenerationFields", "max_tokens").contains("default"));
  EXPECT_EQ(property("GenerationFields", "stream_options")["properties"]["include_usage"]["default"], false);
}

TEST(ApiReference, FieldsSayWhatBecomesOfThem) {
  EXPECT_EQ(property("GenerationFields", "grammar")["x-ferrox-refused"], true);
  EXPECT_EQ(property("GenerationFields", "user")["x-ferrox-ignored"], true);
  EXPECT_EQ(property("MessageAnswerFieldsOfCount", "temperature")["x-ferrox-ignored"], true);
  EXPECT_FALSE(property("MessageAnswerFields", "temperature").contains("x-ferrox-ignored"));
  EXPECT_THAT(reference()["components"]["schemas"]["MessageAnswerFields"]["required"], ElementsAre("max_tokens"));
  EXPECT_FALSE(reference()["components"]["schemas"]["MessageAnswerFieldsOfCount"].contains("required"));
  EXPECT_EQ(property("GenerationFields", "seed")["maximum"], ~uint64_t{0});
}

TEST(ApiReference, OperationsSayWhoMayCallAndWhatComesBack) {
  const Json& paths = reference()["paths"];
  EXPECT_TRUE(paths["/health"]["get"]["security"].empty());
  EXPECT_EQ(paths["/v1/cache/clear"]["post"]["x-ferrox-access"], "admin");
  EXPECT_EQ(paths["/v1/models/{id}"]["get"]["parameters"][0]["name"], "id");
  EXPECT_EQ(paths["/v1/cache"]["get"]["parameters"][0]["schema"]["default"], 100);
  const Json& chat = paths["/v1/chat/completions"]["post"];
  EXPECT_EQ(chat["requestBody"]["required"], true);
  EXPECT_TRUE(chat["responses"]["200"]["content"].contains("text/event-stream"));
  EXPECT_THAT(chat["responses"]["429"]["x-ferrox-codes"], ElementsAre("rate_limit_exceeded"));
  EXPECT_THAT(paths["/slots/{id}"]["post"]["responses"]["409"]["x-ferrox-codes"],
              ElementsAre("session_damaged", "slot_busy"));
  EXPECT_THAT(dump_json(paths["/v1/messages"]["post"]["responses"]["404"]), HasSubstr("MessageError"));
}

TEST(ApiReference, AServerTellsIt) {
  const auto response = shared_server().call("GET", "/openapi.json");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Json::parse(response.body), reference());
}

TEST(ApiReference, ThePageInTheTreeIsWhatTheTablesSay) {
  std::ostringstream page;
  page << std::ifstream(FERROX_SOURCE_DIR "/docs/API.md").rdbuf();
  EXPECT_TRUE(page.str() == api_page()) << "docs/API.md isn't what the tables say: `make docs` writes it anew";
}

TEST(ApiReference, ShapesAreSaidInWords) {
  EXPECT_EQ(shape_text(integer_schema({-1, 5})), "integer from -1 to 5");
  EXPECT_EQ(shape_text(number_schema({0.01, 100})), "number from 0.01 to 100");
  EXPECT_EQ(shape_text(string_schema({0, 64})), "text up to 64 bytes");
  EXPECT_EQ(shape_text(array_schema(string_schema({1, 9}), {1, 3})), "list of 1 to 3: text of 1 to 9 bytes");
  EXPECT_EQ(shape_text(any_of({one_of_words({"a", "b"}), {{"const", false}}})), "a, b; or false");
  EXPECT_EQ(shape_text(Json::object()), "anything");
}

struct Described : FieldNotes {
  int32_t outside = 0;
  float third = 1.0f / 3;
  std::string text;
};

TEST(ApiReference, ADefaultThatCannotBeSentIsNone) {
  const Field<Described> table[] = {
      {"outside", [](Described& d) -> int32_t& { return d.outside; }, {1, 9}, "0: as many as there are"},
      {"third", [](Described& d) -> float& { return d.third; }, kUnit, "a float"},
      {"text", [](Described& d) -> std::string& { return d.text; }, {1, 9}, "needed", Presence::kRequired},
  };
  const auto fields = describe_fields<Described>(table);
  EXPECT_FALSE(fields[0].schema.contains("default"));
  EXPECT_EQ(dump_json(fields[1].schema["default"]), "0.33333334");
  EXPECT_TRUE(fields[2].is_required);
  const auto read = read_body<Described>("{}", table, UnknownFields::kListed);
  EXPECT_EQ(read.error().message, "text: expected a string, found none");
}

}  // namespace
}  // namespace ferrox
