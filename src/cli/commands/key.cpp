// How is a new key for callers of the server made? It is printed once; the keys file gets its hash.
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "server/keys/keys_file.h"

namespace ferrox {
namespace {

ExitCode run(const std::string& name) {
  const auto key = make_random_key();
  if (!key) return report_failure(key.error());
  const auto entry = new_key_entry(name, *key);
  if (!entry) return report_usage(make_error(ErrorCode::kInvalidArgument, "--{}", entry.error().message));
  print_out("{}\n{}\n", *key, *entry);
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  app.add_option("--name", *name, "who it is for: letters, digits, '_', '.' and '-'")->required();
  return [name] { return run(*name); };
}

}  // namespace

extern const Command command_key;
const Command command_key = {
    .name = "key",
    .help = "makes a key for callers of the server, and its entry for the keys file",
    .add = add,
};

}  // namespace ferrox
