#include "cli/refused_flags.h"

#include <fmt/format.h>

namespace ferrox {
namespace {

constexpr const char* kNoGpu = "ferrox runs on the CPU alone, nothing is offloaded; leave it out";
constexpr const char* kAlwaysTiled = "attention is always computed in tiles; leave it out";
constexpr const char* kAlwaysMapped = "model files are always mapped; --mlock keeps them in memory";

struct RefusedFlag {
  const char* flag;
  const char* reason;
};

// CLI11 would read -ngl as -n with the value "gl", and -dev as -d with "ev".
constexpr RefusedFlag kRefusedFlags[] = {
    {"-ngl", kNoGpu},
    {"--gpu-layers", kNoGpu},
    {"--n-gpu-layers", kNoGpu},
    {"-dev", kNoGpu},
    {"--device", kNoGpu},
    {"-sm", kNoGpu},
    {"--split-mode", kNoGpu},
    {"-ts", kNoGpu},
    {"--tensor-split", kNoGpu},
    {"-mg", kNoGpu},
    {"--main-gpu", kNoGpu},
    {"-nkvo", kNoGpu},
    {"--no-kv-offload", kNoGpu},
    {"-fa", kAlwaysTiled},
    {"--flash-attn", kAlwaysTiled},
    {"--no-mmap", kAlwaysMapped},
    {"-mmp", kAlwaysMapped},
};

const RefusedFlag* find_row(const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  for (const RefusedFlag& row : kRefusedFlags) {
    if (name == row.flag) return &row;
  }
  return nullptr;
}

bool takes_a_value(const CLI::App& app, const std::string& argument) {
  const CLI::Option* option = app.get_option_no_throw(argument);
  return option != nullptr && argument.starts_with('-') && option->get_expected_min() > 0;
}

}  // namespace

std::optional<Error> find_refused_flag(const CLI::App& app, const std::vector<std::string>& arguments) {
  bool is_value = false;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const RefusedFlag* row = is_value ? nullptr : find_row(argument);
    if (row != nullptr && app.get_option_no_throw(row->flag) == nullptr) {
      return make_error(ErrorCode::kInvalidArgument, "{}: {}", row->flag, row->reason);
    }
    is_value = !is_value && takes_a_value(app, argument);
  }
  return std::nullopt;
}

}  // namespace ferrox
