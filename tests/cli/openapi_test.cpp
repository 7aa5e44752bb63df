// Does openapi print a document for programs, and the page that docs/ has?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "command_run.h"

namespace ferrox {
namespace {

using testing::run_ferrox;

TEST(OpenapiCommand, PrintsTheDocument) {
  const auto printed = run_ferrox({"openapi"});
  EXPECT_EQ(printed.exit_code, 0);
  const auto document = nlohmann::json::parse(printed.out);
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_TRUE(document["paths"].contains("/openapi.json"));
}

TEST(OpenapiCommand, PrintsThePageOfTheDocs) {
  std::ostringstream page;
  page << std::ifstream(FERROX_SOURCE_DIR "/docs/API.md").rdbuf();
  EXPECT_EQ(run_ferrox({"openapi", "--markdown"}).out, page.str());
}

}  // namespace
}  // namespace ferrox
