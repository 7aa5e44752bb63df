#include "cli/generation_options.h"

#include "cli/option_table.h"

namespace ferrox {

void add_generation_options(CLI::App& app, GenerationArguments& arguments) {
  constexpr const char* kGroup = "Answer";
  app.add_option("-n,--predict,--n-predict", arguments.max_tokens, "most tokens to generate; -1: until the model ends")
      ->capture_default_str()
      ->check(number_within(-1, 1e12))
      ->group(kGroup);
  add_repeatable(app, "-r,--reverse-prompt,--stop", arguments.stop, "text that ends the answer, repeatable")
      ->group(kGroup);
  app.add_flag("--ignore-eos", arguments.ignore_eos, "go on when the model would end")->group(kGroup);
  add_sampling_options(app, arguments.sampling);
}

Result<GenerationRequest> resolve_generation(const GenerationArguments& arguments) {
  GenerationRequest request;
  TRY_ASSIGN(request.sampling, resolve_sampling(arguments.sampling));
  request.max_tokens = arguments.max_tokens;
  request.ignore_eos = arguments.ignore_eos;
  for (const auto& stop : arguments.stop) {
    if (stop.empty()) return make_error(ErrorCode::kInvalidArgument, "--stop: expected a text, found an empty one");
  }
  request.stop = arguments.stop;
  return request;
}

}  // namespace ferrox
