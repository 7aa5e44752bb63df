// What may a command line say about loading a model? llama.cpp's flags, as data.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "engine/engine.h"

namespace ferrox {

/// What the flags filled; `resolve_load` makes the engine's options of it.
struct LoadArguments {
  std::string model_path;  ///< empty: the bundled model
  std::string chat_template;
  std::string chat_template_file;
  std::string k_type = "f16";
  std::string v_type = "f16";
  std::string context = "auto";  ///< or a number of positions
  std::string kv_bytes;          ///< "2G"; empty: the engine decides
  std::string memory_budget;     ///< "8G"; empty: what the machine has free
  std::string kv_storage = "paged";
  std::string kv_host_bytes;       ///< "2G"; empty: no prefixes in host memory
  std::string kv_disk;             ///< a folder; empty: none on disk
  std::string kv_disk_bytes;       ///< "16G"; empty: the engine's default
  std::string log_level = "warn";  ///< of messages on stderr
  EngineOptions engine;
};

/// `-m` alone: for commands that read a file without running it.
void add_model_option(CLI::App& app, std::string& model_path);

/// `-t` alone.
void add_thread_option(CLI::App& app, int& n_threads);

/// Context, KV memory, batch: what decides whether a model fits.
void add_memory_options(CLI::App& app, LoadArguments& arguments);

void add_load_options(CLI::App& app, LoadArguments& arguments);

/// A name of kKvTypes, case ignored.
Result<DType> kv_type(const std::string& name);

/// "auto" or 0 (both 0: as much as there is), or a number of positions.
Result<int64_t> parse_context(const std::string& text);

/// "paged" or "contiguous".
Result<KvStorage> parse_kv_storage(const std::string& name);

/// "512M", "2GiB", "1000000": a number and perhaps K, M, G or T, binary.
Result<uint64_t> parse_size(const char* flag, const std::string& text);

/// The same, or 0: nothing.
Result<uint64_t> parse_size_or_zero(const char* flag, const std::string& text);

/// Sets the log level, too. Errors: an unknown KV type or log level, a malformed size, a template file that can't be
/// read.
Result<EngineOptions> resolve_load(const LoadArguments& arguments);

}  // namespace ferrox
