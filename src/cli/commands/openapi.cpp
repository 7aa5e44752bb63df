// What can be asked of the server, for programs and for readers? As the server itself says it, without one running.
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "server/reference/api_page.h"
#include "server/reference/openapi.h"

namespace ferrox {
namespace {

ExitCode print_reference(bool as_page) {
  if (as_page) {
    print_out("{}", api_page());
  } else {
    print_out("{}\n", openapi_document().dump(2));
  }
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto as_page = std::make_shared<bool>(false);
  app.add_flag("--markdown", *as_page, "the page docs/API.md instead of JSON");
  return [as_page] { return print_reference(*as_page); };
}

}  // namespace

extern const Command command_openapi;
const Command command_openapi = {
    .name = "openapi",
    .help = "prints what the server's paths and fields are, as OpenAPI 3.1",
    .add = add,
};

}  // namespace ferrox
