#include "cli/peer_bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

extern char** environ;

namespace ferrox {
namespace {

std::vector<std::string> arguments_of(const PeerRun& peer, const BenchTest& test) {
  std::vector<std::string> arguments = {peer.program, "-m", peer.model_path, "-o", "jsonl", "-r", "1"};
  const auto add = [&](const char* flag, int64_t value) {
    arguments.emplace_back(flag);
    arguments.push_back(std::to_string(value));
  };
  if (test.n_prompt > 0 && test.n_gen > 0) {
    arguments.emplace_back("-pg");
    arguments.push_back(fmt::format("{},{}", test.n_prompt, test.n_gen));
    add("-p", 0);
    add("-n", 0);
  } else {
    add("-p", test.n_prompt);
    add("-n", test.n_gen);
  }
  add("-d", test.n_depth);
  add("-t", test.n_threads);
  add("-ub", peer.batch_rows);
  return arguments;
}

/// What the program prints; its messages go nowhere.
Result<std::string> output_of(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return make_error(ErrorCode::kIo, "pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char bytes[4096];
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], bytes, sizeof bytes)) > 0;) {
    output.append(bytes, static_cast<size_t>(n));
  }
  close(ends[0]);
  if (failed != 0) return make_error(ErrorCode::kNotFound, "{}: can't start: {}", arguments[0], std::strerror(failed));
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return make_error(ErrorCode::kUnsupported, "{}: ended with status {}", arguments[0],
                      WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return output;
}

}  // namespace

Result<double> run_peer(const PeerRun& peer, const BenchTest& test) {
  TRY_ASSIGN(const std::string output, output_of(arguments_of(peer, test)));
  const auto row = nlohmann::json::parse(output.substr(0, output.find('\n')), nullptr, false);
  if (!row.is_object() || !row.contains("avg_ts") || !row["avg_ts"].is_number()) {
    return make_error(ErrorCode::kInvalidArgument, "{}: expected a line of JSON with avg_ts, found '{}'", peer.program,
                      output.substr(0, 80));
  }
  return row["avg_ts"].get<double>();
}

}  // namespace ferrox
