// What can this machine do for ferrox? CPU, instruction sets compiled and used, memory, threads.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/cpu_name.h"
#include "cli/output.h"
#include "kernels/dispatch.h"

namespace ferrox {
namespace {

std::string isa_state(const KernelTable& isa, const KernelTable& active) {
  if (&isa == &active) return "used";
  return isa.supported() ? "available" : "this CPU lacks it";
}

void print_text(const KernelTable& active) {
  print_out("ferrox   {}\n", kVersion);
  print_out("cpu      {}\n", cpu_name());
  print_out("threads  {}\n", available_threads());
  print_out("memory   {} available\n", format_bytes(available_memory_bytes()));
  print_out("isa\n");
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    print_out("  {:<10} {}\n", (*isa)->name, isa_state(**isa, active));
  }
}

void print_json(const KernelTable& active) {
  auto compiled = nlohmann::ordered_json::array();
  auto supported = nlohmann::ordered_json::array();
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    compiled.push_back((*isa)->name);
    if ((*isa)->supported()) supported.push_back((*isa)->name);
  }
  const nlohmann::ordered_json json = {{"version", kVersion},
                                       {"cpu", cpu_name()},
                                       {"threads", available_threads()},
                                       {"available_memory_bytes", available_memory_bytes()},
                                       {"isa_compiled", std::move(compiled)},
                                       {"isa_supported", std::move(supported)},
                                       {"isa_used", active.name}};
  print_out("{}\n", json.dump(2));
}

ExitCode run(bool as_json) {
  const auto active = active_kernels();
  if (!active) return report_failure(active.error());
  as_json ? print_json(**active) : print_text(**active);
  return ExitCode::kSuccess;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON");
  return [json] { return run(*json); };
}

}  // namespace

extern const Command command_info;
const Command command_info = {"info", "shows the CPU, instruction sets, memory and threads", add};

}  // namespace ferrox
