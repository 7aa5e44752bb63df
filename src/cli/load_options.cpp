#include "cli/load_options.h"

#include <cctype>
#include <charconv>

#include "base/checked_math.h"
#include "base/log.h"
#include "cli/input_text.h"
#include "cli/option_table.h"

namespace ferrox {
namespace {

constexpr const char* kGroup = "Model";

constexpr OptionRow<EngineOptions> kMemoryRows[] = {
    {"-b,--batch-size", &EngineOptions::batch_rows, 1, 1 << 16, "most tokens of one step"},
    {"--page-size", &EngineOptions::page_rows, 1, 65536, "positions of one page of keys and values"},
};

struct SizeUnit {
  char letter;
  uint64_t factor;
};

constexpr SizeUnit kSizeUnits[] = {{'k', 1ull << 10}, {'m', 1ull << 20}, {'g', 1ull << 30}, {'t', 1ull << 40}};

std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

// The factor of "", "g", "gb" or "gib"; 0 for anything else.
uint64_t size_factor(const std::string& suffix) {
  if (suffix.empty() || suffix == "b") return 1;
  for (const auto& unit : kSizeUnits) {
    const std::string rest = suffix.substr(1);
    if (suffix[0] == unit.letter && (rest.empty() || rest == "b" || rest == "ib")) return unit.factor;
  }
  return 0;
}

/// What contiguous storage has no use for.
Result<void> check_contiguous(const EngineOptions& options) {
  if (options.kv_storage != KvStorage::kContiguous) return {};
  const EngineOptions defaults;
  if (options.page_rows != defaults.page_rows) {
    return make_error(ErrorCode::kInvalidArgument, "--page-size {}: contiguous storage has no pages",
                      options.page_rows);
  }
  if (options.n_parallel != 1 && options.n_parallel != defaults.n_parallel) {
    return make_error(ErrorCode::kInvalidArgument, "--parallel {}: contiguous storage runs one request at a time",
                      options.n_parallel);
  }
  return {};
}

/// Where prefixes go that the store has no room for.
Result<void> resolve_tiers(const LoadArguments& arguments, EngineOptions& options) {
  if (!arguments.kv_host_bytes.empty()) {
    TRY_ASSIGN(options.kv_host_bytes, parse_size_or_zero("--kv-host-bytes", arguments.kv_host_bytes));
  }
  if (!arguments.kv_disk.empty()) options.kv_disk = arguments.kv_disk;
  if (!arguments.kv_disk_bytes.empty()) {
    TRY_ASSIGN(options.kv_disk_bytes, parse_size_or_zero("--kv-disk-bytes", arguments.kv_disk_bytes));
    if (!options.kv_disk) {
      return make_error(ErrorCode::kInvalidArgument, "--kv-disk-bytes: expected a folder as well (--kv-disk)");
    }
  }
  const bool has_disk = options.kv_disk && options.kv_disk_bytes > 0;
  const bool has_tiers = options.kv_host_bytes > 0 || has_disk;
  if (has_tiers && !options.prefix_cache) {
    return make_error(ErrorCode::kInvalidArgument, "--no-prefix-cache: {} keeps prefixes, and there are none",
                      has_disk ? "--kv-disk" : "--kv-host-bytes");
  }
  if (has_tiers && options.kv_storage == KvStorage::kContiguous) {
    return make_error(ErrorCode::kInvalidArgument, "--kv contiguous: {} keeps prefixes, and there are none",
                      has_disk ? "--kv-disk" : "--kv-host-bytes");
  }
  return {};
}

}  // namespace

Result<DType> kv_type(const std::string& name) { return parse_kv_type(lower_case(name)); }

Result<int64_t> parse_context(const std::string& text) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (lower_case(text) == "auto") return 0;
  int64_t positions = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), positions);
  if (error == std::errc() && rest == text.data() + text.size() && positions >= 0 && positions <= kMost) {
    if (positions != 1) return positions;
    return make_error(ErrorCode::kInvalidArgument,
                      "--ctx-size: expected a prompt's position and one to generate, found 1");
  }
  return make_error(ErrorCode::kInvalidArgument, "--ctx-size: expected auto or a number of positions, found '{}'",
                    text);
}

Result<KvStorage> parse_kv_storage(const std::string& name) {
  const std::string lower = lower_case(name);
  if (lower == "paged") return KvStorage::kPaged;
  if (lower == "contiguous") return KvStorage::kContiguous;
  return make_error(ErrorCode::kInvalidArgument, "--kv: expected paged or contiguous, found '{}'", name);
}

Result<uint64_t> parse_size_or_zero(const char* flag, const std::string& text) {
  if (text == "0") return uint64_t{0};
  return parse_size(flag, text);
}

Result<uint64_t> parse_size(const char* flag, const std::string& text) {
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const uint64_t factor = size_factor(lower_case(std::string(rest, text.data() + text.size() - rest)));
  const auto size_bytes = checked_mul(number, factor);
  if (error != std::errc() || factor == 0 || !size_bytes || *size_bytes == 0) {
    return make_error(ErrorCode::kInvalidArgument, "{}: expected a number such as 512M or 2G, found '{}'", flag, text);
  }
  return *size_bytes;
}

void add_model_option(CLI::App& app, std::string& model_path) {
  app.add_option("-m,--model", model_path, "a GGUF file; without it the bundled model")
      ->check(not_empty())
      ->group(kGroup);
}

void add_thread_option(CLI::App& app, int& n_threads) {
  app.add_option("-t,--threads", n_threads, "threads to compute with; 0: what this process may use")
      ->capture_default_str()
      ->check(number_within(0, kMostThreads))
      ->group(kGroup);
}

void add_memory_options(CLI::App& app, LoadArguments& arguments) {
  constexpr const char* kMemory = "Memory";
  const auto add = [&](const char* flags, std::string& value, const std::string& help) {
    app.add_option(flags, value, help)->capture_default_str()->check(not_empty())->group(kMemory);
  };
  add("-c,--ctx-size", arguments.context, "positions of one request; auto: as trained, or what memory holds");
  add("--cache-type-k", arguments.k_type, "element type of cached keys: " + kv_type_names());
  add("--cache-type-v", arguments.v_type, "element type of cached values");
  add("--kv-bytes,--kv-size", arguments.kv_bytes, "memory for keys and values, such as 2G");
  add("--memory-budget", arguments.memory_budget, "memory for everything, such as 8G; otherwise what is free");
  add("--kv", arguments.kv_storage, "paged, or contiguous: one request at a time");
  app.add_flag("!--no-prefix-cache", arguments.engine.prefix_cache,
               "compute every prompt from its start: keep nothing of what was computed")
      ->group(kMemory);
  add("--kv-host-bytes", arguments.kv_host_bytes, "memory for prefixes that --kv-bytes has no room for, such as 2G");
  add("--kv-disk", arguments.kv_disk, "a folder for prefixes: they outlive the process");
  add("--kv-disk-bytes", arguments.kv_disk_bytes, "most bytes of files there, 0: no folder; otherwise 16G");
  add_options<EngineOptions>(app, kMemory, kMemoryRows, arguments.engine);
}

void add_load_options(CLI::App& app, LoadArguments& arguments) {
  add_model_option(app, arguments.model_path);
  add_thread_option(app, arguments.engine.n_threads);
  add_memory_options(app, arguments);
  const auto add = [&](const char* flags, std::string& value, const char* help) {
    return app.add_option(flags, value, help)->capture_default_str()->check(not_empty())->group(kGroup);
  };
  auto* given = add("--chat-template", arguments.chat_template, "Jinja text that replaces the model's chat template");
  add("--chat-template-file", arguments.chat_template_file, "the same, from a file")->excludes(given);
  app.add_flag("--mlock", arguments.engine.lock_weights, "keep the weights in memory: never swapped, never read again")
      ->group(kGroup);
  add("--log-level", arguments.log_level, "trace, debug, info, warn, error, off");
}

Result<EngineOptions> resolve_load(const LoadArguments& arguments) {
  TRY(set_log_level(arguments.log_level));
  EngineOptions options = arguments.engine;
  if (!arguments.model_path.empty()) options.model_path = arguments.model_path;
  TRY_ASSIGN(options.k_type, kv_type(arguments.k_type));
  TRY_ASSIGN(options.v_type, kv_type(arguments.v_type));
  TRY_ASSIGN(options.context_length, parse_context(arguments.context));
  TRY_ASSIGN(options.kv_storage, parse_kv_storage(arguments.kv_storage));
  TRY(check_contiguous(options));
  if (!arguments.kv_bytes.empty()) {
    TRY_ASSIGN(options.kv_bytes, parse_size("--kv-bytes", arguments.kv_bytes));
  }
  if (!arguments.memory_budget.empty()) {
    TRY_ASSIGN(options.memory_budget_bytes, parse_size("--memory-budget", arguments.memory_budget));
  }
  TRY(resolve_tiers(arguments, options));
  if (!arguments.chat_template.empty()) options.chat_template = arguments.chat_template;
  if (!arguments.chat_template_file.empty()) {
    TRY_ASSIGN(options.chat_template, read_text_file(arguments.chat_template_file));
  }
  return options;
}

}  // namespace ferrox
